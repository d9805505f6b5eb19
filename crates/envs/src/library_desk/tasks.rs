//! The tasks, generated from the data: each kind of wish for the members it applies to, in the order of the
//! data.

use volary_core::json::Text;
use volary_core::{Json, Object, object};

use super::tools::{
    MOST_FEES, MOST_RENEWALS, MOST_RESERVATIONS, is_for_adults, is_waited_for, text_of,
};
use crate::tau::{Action, STOP, Task};

/// A task at the desk.
#[derive(Clone, Debug, PartialEq)]
pub struct DeskTask {
    pub id: Text,
    /// The title in lists.
    pub title: Text,
    /// 1 for one change, 3 for several that depend on each other.
    pub level: u8,
    pub task: Task,
    /// The texts of a scripted customer.
    pub script: Vec<Text>,
}

/// A member's wish, from which a task is made.
struct Wish {
    title: String,
    /// The wish in the first person.
    wish: String,
    /// The customer's reply to a question of the agent.
    reply: String,
    actions: Vec<Action>,
    outputs: Vec<String>,
}

/// Generates a wish of a member, if one applies.
type Kind = fn(&Data<'_>, &Member<'_>) -> Option<Wish>;

/// The kinds of wishes of each level, and the number of tasks of each.
const LEVELS: [(u8, &[(Kind, usize)]); 3] = [
    (
        1,
        &[
            (renew_one, 3),
            (pay_all, 3),
            (cancel_one, 2),
            (reserve_one, 3),
            (ask_fees, 2),
            (ask_due, 2),
        ],
    ),
    (
        2,
        &[
            (renew_waited_for, 2),
            (renew_what_is_possible, 3),
            (pay_then_renew, 3),
            (swap_reservations, 3),
            (reserve_for_adults, 1),
            (reserve_on_shelf, 1),
        ],
    ),
    (
        3,
        &[
            (pay_what_is_needed, 3),
            (renew_or_ask, 3),
            (reserve_oldest, 3),
            (everything, 3),
        ],
    ),
];

/// All tasks, easy ones first.
pub fn all(data: &Json) -> Vec<DeskTask> {
    let data = Data {
        books: data.get("books").and_then(Json::as_object),
        members: data.get("members").and_then(Json::as_object),
    };
    let mut tasks: Vec<DeskTask> = Vec::new();
    for (level, kinds) in LEVELS {
        for (turn, (kind, wanted)) in kinds.iter().enumerate() {
            // Each kind begins with different members.
            let members = data.members_from(5 * turn + usize::from(level));
            let made = members.filter_map(|member| Some((kind(&data, &member)?, member)));
            for (wish, member) in made.take(*wanted) {
                tasks.push(wish.task(tasks.len() + 1, level, &member));
            }
        }
    }
    tasks
}

impl Wish {
    fn task(self, number: usize, level: u8, member: &Member<'_>) -> DeskTask {
        let (name, postcode) = (&member.name, &member.postcode);
        let who = format!("You are {name}, and your postcode is {postcode}.");
        let mut actions = vec![
            call(
                "find_member",
                object!({"name": (name.as_str()), "postcode": (postcode.as_str())}),
            ),
            call("get_member", object!({"member_id": (member.id)})),
        ];
        actions.extend(self.actions);
        DeskTask {
            id: format!("library_{number:02}").into(),
            title: self.title.into(),
            level,
            task: Task {
                user_id: member.id.into(),
                instruction: format!(
                    "{who} You are at the desk of the library. This is what you want: {} If you are \
                     asked back: {}",
                    self.wish, self.reply
                )
                .into(),
                actions,
                outputs: self.outputs.into_iter().map(Into::into).collect(),
            },
            script: vec![
                format!("Hello, I am {name}, postcode {postcode}. {}", self.wish).into(),
                self.reply.into(),
                STOP.into(),
            ],
        }
    }
}

fn call(name: &str, kwargs: Object) -> Action {
    Action {
        name: name.into(),
        kwargs,
    }
}

struct Data<'a> {
    books: Option<&'a Object>,
    members: Option<&'a Object>,
}

struct Member<'a> {
    id: &'a str,
    name: String,
    postcode: String,
    fees: f64,
    born: i64,
    loans: Vec<Loan<'a>>,
    reservations: Vec<Book<'a>>,
}

struct Loan<'a> {
    book: Book<'a>,
    due: String,
    renewals: i64,
}

#[derive(Clone, Copy)]
struct Book<'a> {
    id: &'a str,
    record: &'a Json,
}

impl<'a> Data<'a> {
    /// The members, rotated to begin at an index.
    fn members_from(&self, start: usize) -> impl Iterator<Item = Member<'a>> {
        let members: Vec<_> = self.members.into_iter().flat_map(Object::iter).collect();
        let count = members.len();
        let books = self.books;
        let round = (0..count).map(move |step| members[(start + step) % count]);
        round.map(move |(id, record)| Member::new(id, record, books))
    }

    fn books(&self) -> impl Iterator<Item = Book<'a>> {
        let books = self.books.into_iter().flat_map(Object::iter);
        books.map(|(id, record)| Book { id, record })
    }
}

impl<'a> Member<'a> {
    fn new(id: &'a str, record: &'a Json, books: Option<&'a Object>) -> Self {
        let list = |key: &str| record.get(key).and_then(Json::as_list).unwrap_or_default();
        let book = |id: &'a Json| {
            let (id, record) = (id.as_text()?, books?.get(id.as_text()?)?);
            Some(Book { id, record })
        };
        let loans = list("loans").iter().filter_map(|loan| {
            Some(Loan {
                book: book(loan.get("book_id")?)?,
                due: text_of(loan, "due"),
                renewals: loan.get("renewals")?.as_i64()?,
            })
        });
        Member {
            id,
            name: text_of(record, "name"),
            postcode: text_of(record, "postcode"),
            fees: record
                .get("fees")
                .and_then(Json::as_f64)
                .unwrap_or_default(),
            born: record
                .get("born")
                .and_then(Json::as_i64)
                .unwrap_or_default(),
            loans: loans.collect(),
            reservations: list("reservations").iter().filter_map(book).collect(),
        }
    }

    fn may_renew(&self) -> bool {
        self.fees <= MOST_FEES
    }

    fn renew(&self, loan: &Loan<'_>) -> Action {
        call(
            "renew_loan",
            object!({"member_id": (self.id), "book_id": (loan.book.id)}),
        )
    }

    fn reserve(&self, book: Book<'_>) -> Action {
        call(
            "reserve_book",
            object!({"member_id": (self.id), "book_id": (book.id)}),
        )
    }

    fn cancel(&self, book: Book<'_>) -> Action {
        call(
            "cancel_reservation",
            object!({"member_id": (self.id), "book_id": (book.id)}),
        )
    }

    fn pay(&self, amount: f64) -> Action {
        call(
            "pay_fees",
            object!({"member_id": (self.id), "amount": amount}),
        )
    }

    fn has(&self, book: Book<'_>) -> bool {
        let loans = self.loans.iter().map(|loan| loan.book.id);
        let reservations = self.reservations.iter().map(|one| one.id);
        loans.chain(reservations).any(|id| id == book.id)
    }

    /// The first book that the member may reserve, starting at an index that depends on the member.
    fn reservable(&self, data: &Data<'a>) -> Option<Book<'a>> {
        let books: Vec<Book<'a>> = data.books().collect();
        let from = usize::try_from(self.born).ok()?;
        let mut round = (0..books.len()).map(|step| books[(from + step) % books.len()]);
        round.find(|book| !book.is_on_shelf() && self.may_have(*book))
    }

    fn may_have(&self, book: Book<'_>) -> bool {
        let is_child = self.born > 2010;
        !(self.has(book) || is_child && is_for_adults(book.record))
    }

    fn has_room(&self) -> bool {
        (self.reservations.len() as i64) < MOST_RESERVATIONS
    }
}

impl Loan<'_> {
    fn is_renewable(&self) -> bool {
        self.renewals < MOST_RENEWALS && !self.book.is_waited_for()
    }
}

impl Book<'_> {
    fn title(&self) -> String {
        text_of(self.record, "title")
    }

    fn author(&self) -> String {
        text_of(self.record, "author")
    }

    fn year(&self) -> i64 {
        let year = self.record.get("year").and_then(Json::as_i64);
        year.unwrap_or(i64::MAX)
    }

    fn is_on_shelf(&self) -> bool {
        let copies = self.record.get("on_shelf").and_then(Json::as_i64);
        copies.unwrap_or_default() > 0
    }

    fn is_waited_for(&self) -> bool {
        let waiting = self.record.get("waiting").and_then(Json::as_list);
        !waiting.unwrap_or_default().is_empty()
    }
}

/// An amount in the desk's format.
fn amount(value: f64) -> String {
    Json::from(value).to_repr()
}

const AGREED: &str = "Yes, please go ahead.";

fn renew_one(_: &Data<'_>, member: &Member<'_>) -> Option<Wish> {
    let loan = member
        .loans
        .iter()
        .find(|loan| loan.is_renewable() && member.may_renew())?;
    let title = loan.book.title();
    Some(Wish {
        title: format!("Renew {title}"),
        wish: format!("I would like to keep {title} a little longer."),
        reply: AGREED.to_owned(),
        actions: vec![member.renew(loan)],
        outputs: Vec::new(),
    })
}

fn pay_all(_: &Data<'_>, member: &Member<'_>) -> Option<Wish> {
    (member.fees > 0.0).then(|| Wish {
        title: "Pay all fees".to_owned(),
        wish: "I want to pay everything that I owe.".to_owned(),
        reply: AGREED.to_owned(),
        actions: vec![member.pay(member.fees)],
        outputs: Vec::new(),
    })
}

fn cancel_one(_: &Data<'_>, member: &Member<'_>) -> Option<Wish> {
    let book = *member.reservations.last()?;
    let title = book.title();
    Some(Wish {
        title: format!("Cancel the reservation of {title}"),
        wish: format!("I found {title} elsewhere, so please cancel my reservation."),
        reply: AGREED.to_owned(),
        actions: vec![member.cancel(book)],
        outputs: Vec::new(),
    })
}

fn reserve_one(data: &Data<'_>, member: &Member<'_>) -> Option<Wish> {
    let book = member.reservable(data).filter(|_| member.has_room())?;
    let title = book.title();
    Some(Wish {
        title: format!("Reserve {title}"),
        wish: format!("Could you keep {title} for me when it comes back?"),
        reply: AGREED.to_owned(),
        actions: vec![member.reserve(book)],
        outputs: Vec::new(),
    })
}

fn ask_fees(_: &Data<'_>, member: &Member<'_>) -> Option<Wish> {
    (member.fees > 0.0).then(|| Wish {
        title: "Tell the fees".to_owned(),
        wish: "How much do I owe? I only want to know, I pay another day.".to_owned(),
        reply: "No, nothing else.".to_owned(),
        actions: Vec::new(),
        outputs: vec![amount(member.fees)],
    })
}

fn ask_due(_: &Data<'_>, member: &Member<'_>) -> Option<Wish> {
    let loan = member.loans.last()?;
    let title = loan.book.title();
    Some(Wish {
        title: format!("Tell when {title} is due"),
        wish: format!("When do I have to bring {title} back? I do not want to renew it."),
        reply: "No, nothing else.".to_owned(),
        actions: Vec::new(),
        outputs: vec![loan.due.clone()],
    })
}

fn renew_waited_for(_: &Data<'_>, member: &Member<'_>) -> Option<Wish> {
    let loan = member.loans.iter().find(|loan| {
        let others = !is_waited_for(loan.book.record, member.id);
        member.may_renew() && loan.book.is_waited_for() && others
    })?;
    let title = loan.book.title();
    Some(Wish {
        title: format!("Refuse to renew {title}"),
        wish: format!("Please renew {title}. If that can't be, tell me until when I may keep it."),
        reply: "Then I will bring it back in time.".to_owned(),
        actions: Vec::new(),
        outputs: vec![loan.due.clone()],
    })
}

fn renew_what_is_possible(_: &Data<'_>, member: &Member<'_>) -> Option<Wish> {
    let renewable: Vec<_> = member
        .loans
        .iter()
        .filter(|loan| loan.is_renewable())
        .collect();
    let mixed = !renewable.is_empty() && renewable.len() < member.loans.len();
    (member.may_renew() && mixed).then(|| Wish {
        title: "Renew whatever can be renewed".to_owned(),
        wish: "I go on a journey. Renew everything of mine that can be renewed, please.".to_owned(),
        reply: AGREED.to_owned(),
        actions: renewable
            .into_iter()
            .map(|loan| member.renew(loan))
            .collect(),
        outputs: Vec::new(),
    })
}

fn pay_then_renew(_: &Data<'_>, member: &Member<'_>) -> Option<Wish> {
    let loan = member
        .loans
        .iter()
        .find(|loan| loan.is_renewable() && !member.may_renew())?;
    let title = loan.book.title();
    Some(Wish {
        title: format!("Pay all fees, then renew {title}"),
        wish: format!("I would like to renew {title}. If I owe too much, I pay all of it first."),
        reply: AGREED.to_owned(),
        actions: vec![member.pay(member.fees), member.renew(loan)],
        outputs: Vec::new(),
    })
}

fn swap_reservations(data: &Data<'_>, member: &Member<'_>) -> Option<Wish> {
    let old = *member.reservations.first()?;
    let new = member.reservable(data)?;
    let (old_title, new_title) = (old.title(), new.title());
    Some(Wish {
        title: format!("Reserve {new_title} in place of {old_title}"),
        wish: format!("I have reserved {old_title}, but would rather have {new_title} instead."),
        reply: AGREED.to_owned(),
        actions: vec![member.cancel(old), member.reserve(new)],
        outputs: Vec::new(),
    })
}

fn reserve_for_adults(data: &Data<'_>, member: &Member<'_>) -> Option<Wish> {
    let is_child = member.born > 2010 && member.has_room();
    let mut books = data.books().filter(|book| is_for_adults(book.record));
    let book = books.find(|book| is_child && !book.is_on_shelf() && !member.has(*book))?;
    let title = book.title();
    Some(Wish {
        title: format!("Refuse to reserve {title} for a child"),
        wish: format!("Could you reserve {title} for me?"),
        reply: "That is a pity. Then I want nothing.".to_owned(),
        actions: Vec::new(),
        outputs: Vec::new(),
    })
}

fn reserve_on_shelf(data: &Data<'_>, member: &Member<'_>) -> Option<Wish> {
    let mut books = data.books().filter(Book::is_on_shelf);
    let book = books.find(|book| member.may_have(*book) && member.has_room())?;
    let title = book.title();
    Some(Wish {
        title: format!("Send to the shelf for {title}"),
        wish: format!("Please reserve {title} for me. Who is its author, by the way?"),
        reply: "Good, then I take it from the shelf.".to_owned(),
        actions: Vec::new(),
        outputs: vec![book.author()],
    })
}

fn pay_what_is_needed(_: &Data<'_>, member: &Member<'_>) -> Option<Wish> {
    let loan = member
        .loans
        .iter()
        .find(|loan| loan.is_renewable() && !member.may_renew())?;
    let title = loan.book.title();
    let needed = (member.fees * 100.0 - MOST_FEES * 100.0).round() / 100.0;
    Some(Wish {
        title: format!("Pay only what is needed to renew {title}"),
        wish: format!(
            "I need {title} longer. Take no more from my card than you have to for that, and tell \
             me how much it was."
        ),
        reply: AGREED.to_owned(),
        actions: vec![member.pay(needed), member.renew(loan)],
        outputs: vec![amount(needed)],
    })
}

fn renew_or_ask(data: &Data<'_>, member: &Member<'_>) -> Option<Wish> {
    let loan = member
        .loans
        .iter()
        .find(|loan| !loan.is_renewable() && member.may_renew())?;
    let book = member.reservable(data).filter(|_| member.has_room())?;
    let (title, other) = (loan.book.title(), book.title());
    Some(Wish {
        title: format!("Renew {title} or else reserve {other}"),
        wish: format!(
            "Please renew {title}. If that can't be, reserve {other} for me and tell me when {title} \
             is due."
        ),
        reply: AGREED.to_owned(),
        actions: vec![member.reserve(book)],
        outputs: vec![loan.due.clone()],
    })
}

/// Reserve the oldest book by one author that is not on the shelf.
fn reserve_oldest(data: &Data<'_>, member: &Member<'_>) -> Option<Wish> {
    let author = member
        .reservable(data)
        .filter(|_| member.has_room())?
        .author();
    let by_author = || data.books().filter(|book| book.author() == author);
    let free = by_author().filter(|book| !book.is_on_shelf() && member.may_have(*book));
    let book = free
        .min_by_key(Book::year)
        .filter(|_| by_author().count() > 1)?;
    Some(Wish {
        title: format!("Reserve the oldest book by {author}"),
        wish: format!(
            "I want to read {author}. Of the books that I do not have and did not reserve, and that \
             are not on the shelf, reserve the oldest one that I may have, and tell me its year."
        ),
        reply: AGREED.to_owned(),
        actions: vec![member.reserve(book)],
        outputs: vec![book.year().to_string()],
    })
}

/// Fees, loans and reservations in one wish.
fn everything(_: &Data<'_>, member: &Member<'_>) -> Option<Wish> {
    let book = *member.reservations.first()?;
    let renewable: Vec<_> = member
        .loans
        .iter()
        .filter(|loan| loan.is_renewable())
        .collect();
    let title = book.title();
    (member.fees > 0.0 && !renewable.is_empty()).then(|| {
        let mut actions = vec![member.pay(member.fees), member.cancel(book)];
        actions.extend(renewable.iter().map(|loan| member.renew(loan)));
        Wish {
            title: format!("Pay, give {title} up, and renew the rest"),
            wish: format!(
                "I move away for a while. I pay what I owe, do not need {title} any more, and want \
                 to keep what I have as long as I can. How many books could you renew?"
            ),
            reply: AGREED.to_owned(),
            actions,
            outputs: vec![renewable.len().to_string()],
        }
    })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::super::{DOMAIN, TASKS};
    use super::*;
    use crate::tau::oracle::closing;
    use crate::tau::{Episode, TurnResult};

    /// Plays actions and the closing answer; returns the reward.
    fn play(task: &DeskTask, actions: &[Action], closing: &str) -> f64 {
        let mut episode = Episode::new(Arc::clone(&DOMAIN), task.task.clone());
        for action in actions {
            match episode.act(action.clone()) {
                Ok(TurnResult::Step(step)) => {
                    assert!(
                        !step.observation.starts_with("Error: "),
                        "{}: {}",
                        task.id,
                        step.observation
                    );
                }
                other => unreachable!("{other:?}"),
            }
        }
        assert!(matches!(
            episode.act(Action::respond(closing)),
            Ok(TurnResult::Customer(_))
        ));
        episode
            .answer(STOP.into())
            .map_or(f64::NAN, |step| step.value())
    }

    #[test]
    fn there_are_forty_tasks_on_three_levels() {
        assert_eq!(TASKS.len(), 40);
        for (level, kinds) in LEVELS {
            let of_level = TASKS.iter().filter(|task| task.level == level).count();
            let wanted: usize = kinds.iter().map(|(_, count)| count).sum();
            assert_eq!(of_level, wanted, "level {level}");
        }
        let mut wishes: Vec<&Text> = TASKS.iter().map(|task| &task.task.instruction).collect();
        wishes.sort();
        wishes.dedup();
        assert_eq!(wishes.len(), 40, "no task is there twice");
    }

    #[test]
    fn the_actions_of_a_task_earn_its_reward_and_others_do_not() {
        for task in &*TASKS {
            let gold = &task.task.actions;
            assert_eq!(play(task, gold, &closing(&task.task)), 1.0, "{}", task.id);
            // An unrequested action.
            let paying = TASKS.iter().flat_map(|other| &other.task.actions);
            let mut wrong = paying.filter(|action| {
                &*action.name == "pay_fees"
                    && !gold
                        .iter()
                        .any(|one| one.kwargs.get("member_id") == action.kwargs.get("member_id"))
            });
            let wrong = wrong.next().cloned();
            let wrong: Vec<Action> = gold.iter().cloned().chain(wrong).collect();
            assert_eq!(play(task, &wrong, &closing(&task.task)), 0.0, "{}", task.id);
            // Missing changes, or no answer.
            let changes = gold.len() > 2;
            if changes {
                let less = &gold[..gold.len() - 1];
                assert_eq!(play(task, less, &closing(&task.task)), 0.0, "{}", task.id);
            }
            if !task.task.outputs.is_empty() {
                assert_eq!(play(task, gold, "Done."), 0.0, "{}", task.id);
            }
        }
    }
}
