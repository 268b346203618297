//! The `nspatch` program: everything is in the library, this only hands over.

fn main() -> std::process::ExitCode {
    nspatch::cli::main()
}
