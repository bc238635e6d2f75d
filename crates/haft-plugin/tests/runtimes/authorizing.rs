//! The hooks `auth` and `provider`, step by step.

use crate::driver::{Host, runtimes};

#[path = "../authorizing/plugin.rs"]
mod plugin;

#[test]
fn a_login_goes_step_by_step_and_its_callback_waits() {
    for runtime in runtimes() {
        let mut host = Host::with(&runtime, &[("p.ts", plugin::TEXT)]).answering(plugin::answers);
        let loaded = host.load("p.ts", "plugin");
        plugin::is_described(&loaded["ok"]);
        plugin::steps(&mut |order| host.order(order));
    }
}
