import type { CoherenceMessage, CoherenceNode } from 'aether-dsm/internal/dsm'
import { Operation } from './input.ts'
import { type Program, Wait } from './program.ts'
import type { Effect, EffectRecorder } from './recorder.ts'
import { Violation } from './violation.ts'

/** Something that happens at a node: a message, or what its program does to a page. */
export type NodeInput = CoherenceMessage | { readonly operation: Operation; readonly page: number }

/** A node that takes a step: they are changed. */
export interface Stepping {
  readonly node: CoherenceNode
  readonly program: Program
}

/** Takes a step at a node whose port is `port`. Returns what it does to the rest of the world. */
export function takeStep(stepping: Stepping, input: NodeInput, port: EffectRecorder): readonly Effect[] {
  port.begin(stepping.program)
  if ('kind' in input) stepping.node.receive(input)
  else operate(stepping, input.operation, input.page, port)
  return port.end()
}

function operate(stepping: Stepping, operation: Operation, page: number, port: EffectRecorder): void {
  if (operation === Operation.Load || operation === Operation.Store)
    access(stepping, page, operation === Operation.Store, port)
  else if (operation === Operation.RunReader || operation === Operation.RunWriter)
    runThread(stepping, page, operation === Operation.RunWriter, port)
  else if (operation === Operation.LateLoad || operation === Operation.LateStore)
    faultLate(stepping, page, operation === Operation.LateStore)
  else if (operation === Operation.Evict) evict(stepping, page)
  else if (operation === Operation.Pin) stepping.program.pinned |= 1 << page
  else if (operation === Operation.Unpin) stepping.program.pinned &= ~(1 << page)
  else retry(stepping, page, operation === Operation.RetryBriefly, port)
}

function retry({ node }: Stepping, page: number, briefly: boolean, port: EffectRecorder): void {
  if (briefly) port.pinSoon(page)
  node.retry(page)
}

function evict({ node, program }: Stepping, page: number): void {
  const evicted = program.evictions
  if (node.evict(page) && program.evictions === evicted) program.evicting |= 1 << page
}

function runThread(stepping: Stepping, page: number, write: boolean, port: EffectRecorder): void {
  const { program } = stepping
  program.held &= ~(1 << page)
  program.setWait(page, write, Wait.None)
  access(stepping, page, write, port)
  serveOthers(stepping, page)
}

/** If a page no longer has to be held, handle the requests that were deferred for it. */
function serveOthers({ node, program }: Stepping, page: number): void {
  if (!program.mustHold(page) && node.isDeferred(page)) node.retry(page)
}

function access({ node, program }: Stepping, page: number, write: boolean, port: EffectRecorder): void {
  if (program.may(page, write)) {
    if (write) port.stored(page)
    return
  }
  program.setWait(page, write, Wait.Asleep)
  // A copy that is wanted again before it has gone is not given up.
  program.evicting &= ~(1 << page)
  node.demand(page, write)
}

/** The thread sleeps until the page is mapped, be it the second time. */
function faultLate({ node, program }: Stepping, page: number, write: boolean): void {
  const before = program.mappings
  node.demand(page, write)
  if (program.mappings === before)
    throw new Violation(
      `progress: a thread that faulted on page ${page} late, when it was mapped already, is never woken`,
    )
}
