//! What the macros refuse, and in which words; what they take. Write the words anew with
//! `TRYBUILD=overwrite cargo test -p volary-macros --test ui`.

#[test]
fn ui() {
    let cases = trybuild::TestCases::new();
    cases.pass("tests/ui/pass/*.rs");
    cases.compile_fail("tests/ui/*.rs");
}
