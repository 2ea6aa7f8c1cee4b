//! The spec as its users meet it: texts in, values or told problems out.

use super::*;

pub(super) fn source(text: &str) -> Source {
    Source { name: "gate.yaml".into(), text: text.into() }
}

pub(super) fn good(text: &str) -> Spec {
    match parse(&source(text), &Permissions::default()) {
        Ok(checked) => checked.spec,
        Err(error) => panic!("{}", error.problems().render(false)),
    }
}

#[test]
fn play() {
    for t in [
        "name: chat\ntarget: { url: http://127.0.0.1:8000/v1 }\nload: { concurrency: 16 }\nslo: { request: [ttft <= 500ms, tpot <= 50ms], require: [goodput >= 95%] }\n",
        "name: chat\nnamee: 3\nslo:\n  request: [ttft >= 500, 'itl <= 5ms']\n  require:\n    - \"goodput >= 950%\"\n    - ttft p99 <= 1s at 2x\nload: { concurrency: abc, levels: [1x, 2], rounds: 010 }\nname: b\n",
        "name: chat\ntarget: { url: ${GOODPUT_VAR_URL} }\nslo: {}\n",
        "name: chat\nworkload: { lengths: { input: uniform(10, 20), output: constant(5) } }\nslo: {require: [errors <= 1%]}\n",
        "a: 1\n---\nb: 2\n",
        "",
        "[1,2]",
        "a: &x [1]\nb: *x\nname: &n chat\nuse: *n\nslo: {require: [errors <= 1%]}\n",
        "a: b: c\n",
        "\ta: 1\n",
    ] {
        match parse(&source(t), &Permissions::default()) {
            Ok(c) => println!("{:#?}\n{}", c.spec, explain(&c)),
            Err(e) => println!("{}\n======", e.problems().render(false)),
        }
    }
}
