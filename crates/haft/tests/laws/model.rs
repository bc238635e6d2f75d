//! Random registrations, turns and calls in two placements, against a plain list.

use haft::{Registration, Turn};
use proptest::collection::vec;
use proptest::prelude::{Strategy, TestCaseError, prop_assert_eq, prop_oneof, proptest};
use serde_json::json;

use crate::support::{World, cases, names, says, settle};

const NAMES: [&str; 3] = ["a", "b", "c"];

#[derive(Debug, Clone)]
enum Step {
    /// Registers names in the process or the location.
    Register { in_location: bool, names: Vec<usize> },
    /// Drops a registration that is alive.
    Drop(usize),
    /// Prepares a turn.
    Turn,
    /// Settles a call in a turn that was prepared.
    Settle { turn: usize, name: usize },
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let names = proptest::sample::subsequence(vec![0, 1, 2], 1..=3);
    let step = prop_oneof![
        3 => (proptest::bool::ANY, names).prop_map(|(in_location, names)| Step::Register { in_location, names }),
        2 => (0usize..8).prop_map(Step::Drop),
        2 => proptest::strategy::Just(Step::Turn),
        4 => (0usize..4, 0usize..NAMES.len()).prop_map(|(turn, name)| Step::Settle { turn, name }),
    ];
    vec(step, 1..40)
}

/// One registration of one name: what a list can say of it.
#[derive(Debug, Clone, PartialEq)]
struct Row {
    in_location: bool,
    name: usize,
    registration: usize,
}

/// The obvious registry: a list of what is alive, in order.
#[derive(Default)]
struct Model(Vec<Row>);

impl Model {
    /// The last row of the location with that name, else the last of the process.
    fn winner(&self, name: usize) -> Option<&Row> {
        let last =
            |in_location| self.0.iter().rfind(|row| row.name == name && row.in_location == in_location);
        last(true).or_else(|| last(false))
    }

    /// The winners: the process's before the location's, each in their order.
    fn advertised(&self) -> Vec<Row> {
        let of = |in_location| self.0.iter().filter(move |row| row.in_location == in_location);
        of(false).chain(of(true)).filter(|row| self.winner(row.name) == Some(row)).cloned().collect()
    }
}

struct Both {
    world: World,
    model: Model,
    alive: Vec<(usize, Registration)>,
    turns: Vec<(Turn, Vec<Row>)>,
    registered: usize,
}

impl Both {
    fn new() -> Both {
        Both {
            world: World::new(),
            model: Model::default(),
            alive: Vec::new(),
            turns: Vec::new(),
            registered: 0,
        }
    }

    fn take(&mut self, step: &Step) -> Result<(), TestCaseError> {
        match step {
            Step::Register { in_location, names } => {
                let id = self.registered;
                self.registered += 1;
                let place = if *in_location { &self.world.location } else { &self.world.process };
                let tools = names.iter().map(|name| (NAMES[*name], says(format!("registration {id}"))));
                self.alive.push((id, place.register(tools).unwrap()));
                let row = |name: &usize| Row { in_location: *in_location, name: *name, registration: id };
                self.model.0.extend(names.iter().map(row));
            }
            Step::Drop(at) => {
                if !self.alive.is_empty() {
                    let (id, registration) = self.alive.remove(at % self.alive.len());
                    drop(registration);
                    self.model.0.retain(|row| row.registration != id);
                }
            }
            Step::Turn => {
                let (turn, expected) = (self.world.turn(), self.model.advertised());
                let expected_names: Vec<&str> = expected.iter().map(|row| NAMES[row.name]).collect();
                prop_assert_eq!(names(&turn), expected_names.join(" "));
                self.turns.push((turn, expected));
            }
            Step::Settle { turn, name } => self.settle(*turn, *name)?,
        }
        Ok(())
    }

    fn settle(&self, turn: usize, name: usize) -> Result<(), TestCaseError> {
        let Some((turn, advertised)) = self.turns.get(turn % self.turns.len().max(1)) else { return Ok(()) };
        let expected = match advertised.iter().find(|row| row.name == name) {
            None => "rejected as unknown_tool".to_owned(),
            Some(row) if self.model.winner(name) == Some(row) => {
                format!("completed: registration {}", row.registration)
            }
            Some(_) => "rejected as stale".to_owned(),
        };
        let told = settle(turn, self.world.call(NAMES[name], json!({ "text": "" })));
        let told =
            if told.starts_with("completed") { told.as_str() } else { told.split(':').next().unwrap() };
        prop_assert_eq!(told, expected);
        Ok(())
    }
}

proptest! {
    #![proptest_config(cases(512))]

    #[test]
    fn a_registry_behaves_as_a_plain_list_does(steps in steps()) {
        let mut both = Both::new();
        for step in &steps {
            both.take(step)?;
        }
    }
}
