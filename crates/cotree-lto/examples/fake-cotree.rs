//! A stand-in for `cotree` in tests of the plugin: compiles each module as it is with `clang -x ir`, after making
//! private what the request says nobody else can see. `FAKE_COTREE_LOG` names a file that gets the request.

use cotree_lto::protocol::{LinkOutput, LinkRequest, LinkResponse, OutputKind, Resolution};
use std::collections::HashSet;
use std::fs;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["lto-link", request] => link(request),
        ["lto-symtab", input, output] => rewrite(input, output),
        _ => panic!("unexpected arguments {arguments:?}"),
    }
}

fn tool(name: &str) -> PathBuf {
    let newest = (14..40).rev().map(|version| PathBuf::from(format!("/usr/lib/llvm-{version}/bin/{name}")));
    newest.into_iter().find(|path| path.exists()).expect("an LLVM below /usr/lib")
}

fn rewrite(input: &str, output: &str) -> ExitCode {
    let status = Command::new(tool("opt")).args([input, "-o", output]).status().expect("opt starts");
    if status.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn link(request_path: &str) -> ExitCode {
    let json = fs::read(request_path).expect("the request is readable");
    let request: LinkRequest = serde_json::from_slice(&json).expect("the request is of the protocol");
    if let Some(log) = std::env::var_os("FAKE_COTREE_LOG") {
        fs::write(log, &json).expect("the log is writable");
    }
    eprintln!("fake cotree at work");
    let answer = |response: &LinkResponse| {
        let json = serde_json::to_vec(response).expect("the response is JSON");
        fs::write(request.work_dir.join("response.json"), json).expect("the work folder is writable");
    };
    if let Some(reason) = std::env::var_os("FAKE_COTREE_FAILS") {
        if reason.is_empty() {
            return ExitCode::from(3);
        }
        answer(&Err(reason.into_string().expect("the reason is text")));
        return ExitCode::FAILURE;
    }
    if std::env::var_os("FAKE_COTREE_CRASHES").is_some() && !request.options.contains(&"cotree-careful=on".into()) {
        std::process::abort();
    }
    let mut output = LinkOutput::default();
    for index in 0..request.modules.len() {
        output.objects.push(compile(&request, index));
    }
    output.warnings = std::env::var("FAKE_COTREE_WARNS").into_iter().collect();
    answer(&Ok(output));
    ExitCode::SUCCESS
}

fn compile(request: &LinkRequest, index: usize) -> PathBuf {
    let module = &request.modules[index];
    let mut bitcode = vec![0; usize::try_from(module.size).expect("a size")];
    let file = fs::File::open(&module.path).expect("the module is readable");
    file.read_exact_at(&mut bitcode, module.offset).expect("the module is in its file");
    let path = |suffix: &str| request.work_dir.join(format!("fake{index}{suffix}"));
    fs::write(path(".bc"), bitcode).expect("the work folder is writable");
    let others = request.modules.iter().enumerate().filter(|&(other, _)| other != index);
    let referenced: HashSet<_> =
        others.flat_map(|(_, module)| &module.symbols).map(|symbol| symbol.name.as_str()).collect();
    let public = module.symbols.iter().filter(|symbol| {
        symbol.resolution != Resolution::PrevailingInternal || referenced.contains(symbol.name.as_str())
    });
    let list: String = public.map(|symbol| format!("{}\n", symbol.ir_name)).collect();
    fs::write(path(".list"), list).expect("the work folder is writable");
    run(Command::new(tool("opt"))
        .args(["-passes=internalize,globaldce", "--internalize-public-api-file"])
        .arg(path(".list"))
        .args(input_output(&path(".bc"), &path(".private.bc"))));
    let pic = match request.kind {
        OutputKind::Executable => "-fno-pic",
        OutputKind::Pie => "-fPIE",
        OutputKind::Shared | OutputKind::Relocatable => "-fPIC",
    };
    run(Command::new(tool("clang"))
        .args(["-c", "-x", "ir", "-O1", "-Wno-override-module", "-ffunction-sections", pic])
        .args(input_output(&path(".private.bc"), &path(".o"))));
    path(".o")
}

fn input_output<'a>(input: &'a Path, output: &'a Path) -> [&'a Path; 3] {
    [input, Path::new("-o"), output]
}

fn run(command: &mut Command) {
    let status = command.status().expect("the tool starts");
    assert!(status.success(), "{command:?}");
}
