//! The thread that owns the file of a class. Requests send it jobs, so nothing ever waits for a lock of the file.
//!
//! Invariants: jobs run in the order in which they were sent. Hand-ins that wait are stored in one transaction.

use std::sync::{Mutex, PoisonError, mpsc};
use std::thread::{self, JoinHandle};

use tokio::sync::oneshot;
use volary_classroom::wire::Receipt;

use super::store::{NewHandIn, Store, StoreError};

/// The maximum number of hand-ins in a transaction.
const TOGETHER: usize = 64;

type Stored = Result<Receipt, StoreError>;

enum Job {
    Put(NewHandIn, oneshot::Sender<Stored>),
    Read(Box<dyn FnOnce(&Store) + Send>),
    Close,
}

/// The handle of the thread.
pub struct Writer {
    jobs: mpsc::Sender<Job>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

impl Writer {
    /// Starts the thread.
    pub fn start(store: Store) -> Result<Writer, StoreError> {
        let (jobs, waiting) = mpsc::channel();
        let thread = thread::Builder::new()
            .name("class".to_owned())
            .spawn(move || run(store, &waiting))?;
        Ok(Writer {
            jobs,
            thread: Mutex::new(Some(thread)),
        })
    }

    /// Stores a hand-in. It is on the disk once this returns.
    pub async fn put(&self, hand_in: NewHandIn) -> Stored {
        let (stored, reply) = oneshot::channel();
        self.send(Job::Put(hand_in, stored))?;
        reply.await.map_err(|_| StoreError::Closed)?
    }

    /// Reads from the file, after everything that was put before.
    pub async fn read<T: Send + 'static>(
        &self,
        read: impl FnOnce(&Store) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let (found, reply) = oneshot::channel();
        self.send(Job::Read(Box::new(move |store| {
            // Nobody waits any more if the client disconnected.
            let _ = found.send(read(store));
        })))?;
        reply.await.map_err(|_| StoreError::Closed)?
    }

    /// Closes the file after the jobs before, and waits for that.
    pub fn close(&self) {
        // It is closed already if this fails.
        let _ = self.send(Job::Close);
        let thread = self
            .thread
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        if thread.is_some_and(|thread| thread.join().is_err()) {
            tracing::error!("the thread of the class ended by a panic");
        }
    }

    fn send(&self, job: Job) -> Result<(), StoreError> {
        self.jobs.send(job).map_err(|_| StoreError::Closed)
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.close();
    }
}

fn run(mut store: Store, waiting: &mpsc::Receiver<Job>) {
    let mut batch = Vec::new();
    let mut replies = Vec::new();
    let mut next = waiting.recv().ok();
    while let Some(job) = next {
        match job {
            Job::Put(hand_in, reply) => {
                batch.push(hand_in);
                replies.push(reply);
            }
            Job::Read(read) => {
                flush(&mut store, &mut batch, &mut replies);
                read(&store);
            }
            Job::Close => break,
        }
        next = if batch.len() < TOGETHER {
            waiting.try_recv().ok()
        } else {
            None
        };
        if next.is_none() {
            flush(&mut store, &mut batch, &mut replies);
            next = waiting.recv().ok();
        }
    }
    flush(&mut store, &mut batch, &mut replies);
    if let Err(error) = store.close() {
        tracing::error!(%error, "the file of the class could not be closed");
    }
}

fn flush(
    store: &mut Store,
    batch: &mut Vec<NewHandIn>,
    replies: &mut Vec<oneshot::Sender<Stored>>,
) {
    if batch.is_empty() {
        return;
    }
    for (reply, stored) in replies.drain(..).zip(store.put(batch)) {
        // Nobody waits any more if the client disconnected.
        let _ = reply.send(stored);
    }
    batch.clear();
}
