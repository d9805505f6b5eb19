//! What the macros accept, and the errors for what they refuse. Rewrite the expected errors with
//! `TRYBUILD=overwrite cargo test -p volary-macros --test ui`.

#[test]
fn ui() {
    let cases = trybuild::TestCases::new();
    cases.pass("tests/ui/pass/*.rs");
    cases.compile_fail("tests/ui/*.rs");
}
