//! Serves a stream case over TLS and HTTP/2: one DATA frame a write.
#![expect(clippy::unwrap_used, reason = "the helpers of a test may panic as it may")]

use crate::cases::{Step, Stream};
use bytes::Bytes;
use h2::server::SendResponse;
use std::net::TcpListener;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{Instant, sleep_until};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};

/// A TLS server that speaks nothing but HTTP/2.
pub(crate) fn acceptor(certificate: CertificateDer<'static>, key: &rcgen::KeyPair) -> TlsAcceptor {
    let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key.serialize_der()));
    let mut config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate], key)
        .unwrap();
    config.alpn_protocols = vec![b"h2".to_vec()];
    TlsAcceptor::from(Arc::new(config))
}

/// Plays one answer of `next` for each request of one connection, then returns.
pub(crate) fn serve(listener: TcpListener, tls: &TlsAcceptor, next: impl Fn() -> Stream) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        listener.set_nonblocking(true).unwrap();
        let listener = tokio::net::TcpListener::from_std(listener).unwrap();
        let Ok((stream, _)) = listener.accept().await else { return };
        let Ok(stream) = tls.accept(stream).await else { return };
        let Ok(mut connection) = h2::server::handshake(stream).await else { return };
        while let Some(Ok((request, respond))) = connection.accept().await {
            let answer = next();
            tokio::spawn(async move {
                let mut body = request.into_body();
                while let Some(Ok(data)) = body.data().await {
                    let _ = body.flow_control().release_capacity(data.len());
                }
                // A client that has gone is no fault of the player's.
                let _ = play(respond, &answer).await;
            });
        }
    });
}

async fn play(mut respond: SendResponse<Bytes>, answer: &Stream) -> Result<(), h2::Error> {
    let received = Instant::now();
    let mut head = http::Response::builder().status(answer.status.unwrap());
    for (name, value) in &answer.headers {
        head = head.header(name, value);
    }
    let mut head = Some(head.body(()).unwrap());
    let mut body = None;
    for step in &answer.steps {
        if let Step::Write(at, _) | Step::Close(at) | Step::Reset(at) = step {
            sleep_until(received + Duration::from_millis(*at)).await;
        }
        if let Some(head) = head.take() {
            body = Some(respond.send_response(head, false)?);
        }
        let Some(body) = &mut body else { continue };
        match step {
            Step::Write(_, bytes) => body.send_data(bytes.clone().into(), false)?,
            Step::Close(_) => body.send_data(Bytes::new(), true)?,
            Step::Reset(_) => body.send_reset(h2::Reason::INTERNAL_ERROR),
            Step::Hang => std::future::pending().await,
        }
    }
    Ok(())
}
