//! Sets up the engine: its limits, its globals, and the functions of the language that the host itself relies on,
//! taken before any code of the person could replace them.

use rquickjs::function::Constructor;
use rquickjs::{CatchResultExt, Context, Ctx, Error, Function, Object, Persistent, Result, Runtime};

use super::host::host;
use super::modules::{FileLoader, FileResolver, internal};
use super::{Limits, rejections};

/// Functions of the language, as they were before any code ran.
pub(super) struct Intrinsics {
    pub(super) error: Persistent<Constructor<'static>>,
    pub(super) type_error: Persistent<Constructor<'static>>,
    pub(super) range_error: Persistent<Constructor<'static>>,
    pub(super) syntax_error: Persistent<Constructor<'static>>,
    pub(super) to_base64: Persistent<Function<'static>>,
    /// What `host/main` exports.
    pub(super) main: OnceMain,
}

/// The functions of `host/main`, which is loaded after the rest.
pub(super) type OnceMain = std::cell::OnceCell<Persistent<Object<'static>>>;

/// Nothing is looked for among less than this: loading makes little garbage, and looking takes time.
const GC_BYTES: usize = 4 << 20;

pub(super) fn build(limits: &Limits) -> Result<(Runtime, Context)> {
    let runtime = Runtime::new()?;
    runtime.set_memory_limit(limits.memory_bytes);
    runtime.set_max_stack_size(limits.stack_bytes);
    runtime.set_gc_threshold(GC_BYTES);
    runtime.set_interrupt_handler(Some(Box::new(|| host().should_interrupt())));
    runtime.set_host_promise_rejection_tracker(Some(Box::new(rejections::track)));
    runtime.set_loader(FileResolver, FileLoader);
    let context = Context::full(&runtime)?;
    context.with(|ctx| {
        if let Err(error) = prepare(&ctx).catch(&ctx) {
            // Only our own code has run: that it fails is a mistake of ours, told to whoever builds this.
            super::give_up(&format!("the host's own code fails: {error}"));
        }
    });
    Ok((runtime, context))
}

fn prepare(ctx: &Ctx<'_>) -> Result<()> {
    let globals = ctx.globals();
    let bytes: Object<'_> = globals.get::<_, Object<'_>>("Uint8Array")?.get("prototype")?;
    let intrinsics = Intrinsics {
        error: Persistent::save(ctx, globals.get::<_, Constructor<'_>>("Error")?),
        type_error: Persistent::save(ctx, globals.get::<_, Constructor<'_>>("TypeError")?),
        range_error: Persistent::save(ctx, globals.get::<_, Constructor<'_>>("RangeError")?),
        syntax_error: Persistent::save(ctx, globals.get::<_, Constructor<'_>>("SyntaxError")?),
        to_base64: Persistent::save(ctx, bytes.get::<_, Function<'_>>("toBase64")?),
        main: OnceMain::new(),
    };
    if host().intrinsics.set(intrinsics).is_err() {
        return Err(Error::Unknown);
    }
    internal(ctx, "web/globals")?.get::<_, Function<'_>>("install")?.call::<_, ()>(())?;
    let main = internal(ctx, "host/main")?;
    let _ = host().intrinsics().main.set(Persistent::save(ctx, main));
    Ok(())
}

impl Intrinsics {
    /// A function that `host/main` exports.
    pub(super) fn main<'js>(&self, ctx: &Ctx<'js>, name: &str) -> Result<Function<'js>> {
        let main = self.main.get().ok_or(Error::Unknown)?;
        main.clone().restore(ctx)?.get(name)
    }
}
