//! Executable tools: definitions with handlers, generic over the state.
//!
//! Invariants: a handler borrows the arguments, so running a call copies none of them, and
//! the first of equal names wins.

use std::cell::{Ref, RefCell, RefMut};
use std::rc::Rc;
use std::sync::Arc;

use futures_util::future::LocalBoxFuture;

use super::{Tool, ToolError, ToolResult};
use crate::clock::Clock;
use crate::json::{Object, Text};

/// The inputs of a handler in addition to the arguments.
pub struct CallContext<'a, S> {
    /// The state of the environment. Borrowed during a synchronous tool; an async tool
    /// must not hold a borrow across an await.
    pub state: &'a RefCell<S>,
    pub tool_call_id: &'a Text,
    pub clock: &'a dyn Clock,
}

impl<S> Clone for CallContext<'_, S> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<S> Copy for CallContext<'_, S> {}

impl<'a, S> CallContext<'a, S> {
    /// Borrows the state mutably.
    ///
    /// # Errors
    ///
    /// If another tool holds a borrow while it waits, which no tool should.
    pub fn state_mut(&self) -> Result<RefMut<'a, S>, ToolError> {
        self.state.try_borrow_mut().map_err(|_| in_use())
    }

    /// Borrows the state.
    ///
    /// # Errors
    ///
    /// If another tool holds a mutable borrow while it waits, which no tool should.
    pub fn state_ref(&self) -> Result<Ref<'a, S>, ToolError> {
        self.state.try_borrow().map_err(|_| in_use())
    }
}

#[cold]
fn in_use() -> ToolError {
    ToolError::runtime("The state is held by another tool that waits.")
}

/// Runs a call synchronously.
pub type SyncHandler<S> = Rc<dyn Fn(CallContext<'_, S>, &Object) -> ToolResult>;

/// Runs a call asynchronously.
pub type AsyncHandler<S> =
    Rc<dyn for<'a> Fn(CallContext<'a, S>, &'a Object) -> LocalBoxFuture<'a, ToolResult>>;

/// The handler of a tool.
pub enum Handler<S> {
    /// Synchronous; several run in call order.
    Sync(SyncHandler<S>),
    /// Asynchronous.
    Async(AsyncHandler<S>),
}

impl<S> Clone for Handler<S> {
    fn clone(&self) -> Self {
        match self {
            Handler::Sync(handler) => Handler::Sync(Rc::clone(handler)),
            Handler::Async(handler) => Handler::Async(Rc::clone(handler)),
        }
    }
}

/// A tool with its handler.
pub struct BoundTool<S> {
    /// The definition.
    pub tool: Arc<Tool>,
    pub handler: Handler<S>,
}

impl<S> Clone for BoundTool<S> {
    fn clone(&self) -> Self {
        BoundTool {
            tool: Arc::clone(&self.tool),
            handler: self.handler.clone(),
        }
    }
}

impl<S> BoundTool<S> {
    /// A synchronous tool.
    pub fn sync(
        tool: Arc<Tool>,
        handler: impl Fn(CallContext<'_, S>, &Object) -> ToolResult + 'static,
    ) -> Self {
        BoundTool {
            tool,
            handler: Handler::Sync(Rc::new(handler)),
        }
    }

    /// An asynchronous tool. The handler boxes its future: `Box::pin(async move { … })`.
    pub fn asynchronous(
        tool: Arc<Tool>,
        handler: impl for<'a> Fn(CallContext<'a, S>, &'a Object) -> LocalBoxFuture<'a, ToolResult>
        + 'static,
    ) -> Self {
        BoundTool {
            tool,
            handler: Handler::Async(Rc::new(handler)),
        }
    }
}

/// The tools of an environment, in order. Cloning is cheap; the first of equal names wins.
pub struct ToolSet<S> {
    tools: Rc<[BoundTool<S>]>,
}

impl<S> Clone for ToolSet<S> {
    fn clone(&self) -> Self {
        ToolSet {
            tools: Rc::clone(&self.tools),
        }
    }
}

impl<S> ToolSet<S> {
    /// A set of tools.
    pub fn new(tools: impl IntoIterator<Item = BoundTool<S>>) -> Self {
        ToolSet {
            tools: tools.into_iter().collect(),
        }
    }

    /// The tool of exactly this name.
    pub fn get(&self, name: &str) -> Option<&BoundTool<S>> {
        self.iter().find(|bound| &*bound.tool.info.name == name)
    }

    /// The tools in order.
    pub fn iter(&self) -> std::slice::Iter<'_, BoundTool<S>> {
        self.tools.iter()
    }

    /// The names in order.
    pub fn names(&self) -> impl Iterator<Item = &Text> {
        self.iter().map(|bound| &bound.tool.info.name)
    }

    /// The definitions in order, as returned by `reset`.
    pub fn definitions(&self) -> Vec<Arc<Tool>> {
        self.iter().map(|bound| Arc::clone(&bound.tool)).collect()
    }
}
