//! Compiles bitcode files as one link unit, without a linker's verdicts: `objects OUT_DIR [OPTION…] FILE.bc…`.
use cotree_llvm::options::LinkOptions;
use cotree_llvm::{LinkJob, link_unit};
use cotree_lto::protocol::{LinkRequest, ModuleInput, OutputKind};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut args = std::env::args().skip(1);
    let work_dir = args.next().ok_or("usage: objects OUT_DIR [OPTION…] FILE.bc…")?;
    let (files, options): (Vec<String>, Vec<String>) = args.partition(|a| std::path::Path::new(a).exists());
    let modules = files
        .iter()
        .map(|f| {
            Ok(ModuleInput {
                name: f.clone(),
                path: f.into(),
                offset: 0,
                size: std::fs::metadata(f)?.len(),
                symbols: vec![],
            })
        })
        .collect::<std::io::Result<_>>()?;
    let request = LinkRequest {
        output: "a.out".into(),
        kind: OutputKind::Pie,
        is_static: false,
        options,
        modules,
        native_references: vec![],
        of_sanitizers: vec![],
        natives: vec![],
        work_dir: work_dir.into(),
    };
    let job = LinkJob { request: &request, options: LinkOptions::parse(&request.options)?, runtime: &[] };
    for object in link_unit(&job)?.objects {
        println!("{}", object.display());
    }
    Ok(())
}
