import { processInWords } from '../../cluster/index.ts'
import { ClosedError } from '../../native/index.ts'
import type { WaitDescription } from '../../profiling/index.ts'
import { HeapFullError, StructureError } from '../errors.ts'
import { Meters } from '../figures/meter.ts'
import { type Backing, wholeBacking } from '../memory/backing.ts'
import type { WordMemory } from '../memory/word-memory.ts'
import { nowMs } from '../now.ts'
import { EPOCH_MAX, ownerEpoch, ownerSlot, ownerWord, type Peers } from '../peers.ts'
import { Bell } from '../waiting/bell.ts'
import { type Allocation, Allocator } from './allocator.ts'
import { BlockTable } from './block-table.ts'
import { Epochs } from './epochs.ts'
import { Gate } from './gate.ts'
import { countSlabs } from './growth.ts'
import { HeapRecovery, type Settler } from './heap-recovery.ts'
import type { Intent } from './intent.ts'
import {
  GRANULE_BYTES,
  HEAP_MAGIC,
  HEAP_VERSION,
  HeaderOffset,
  layoutOf,
  PARTICIPANTS_MAX,
  SLAB_BYTES,
} from './layout.ts'
import { Participant, ParticipantState } from './participant.ts'
import type { ReachTest } from './reach.ts'

/**
 * How often to try before reporting that there is no memory; between two attempts others may leave their operations.
 */
const PRESSURE_ATTEMPTS = 24
const PRESSURE_PAUSE_MS = 2
const JOIN_ATTEMPTS = 2000

/** The memory use of a heap. */
export interface HeapUsage {
  /** Bytes of all blocks that are in use, or that readers may still use. */
  readonly usedBytes: number
  /** Bytes for blocks that memory was taken for: all, with `reserve`. */
  readonly takenBytes: number
  /** Bytes that all blocks can have in total. */
  readonly sizeBytes: number
}

/**
 * One participant's hold on a heap: memory for structures that several processes share. A block is taken from it,
 * linked into a structure by one compare-and-swap, unlinked by another. It is given back when no member looks at it any
 * more. See layout.ts, block-state.ts, intent.ts and epochs.ts for how this survives the death of any process at any
 * instruction.
 */
export class Heap {
  readonly name: string
  readonly memory: WordMemory
  readonly peers: Peers
  readonly blocks: BlockTable
  readonly epochs: Epochs
  /** Counts what this member does with each structure. */
  readonly meters: Meters
  /** Closed while the heap is copied. */
  readonly gate: Gate
  /** Rings when a member has left. */
  readonly left: Bell
  /** This participant's entry. */
  readonly self: Participant
  /** The operation of this participant that is under way. */
  readonly intent: Intent
  /** This participant as the holder of something. */
  readonly owner: number
  /** Random, the same for all: keys are hashed with it. */
  readonly seed: number
  readonly #allocator: Allocator
  readonly #recovery: HeapRecovery
  readonly #reach = new Map<number, ReachTest>()
  readonly #settlers: Settler[] = []
  readonly #collectors: (() => void)[] = []
  readonly #allocation: Allocation = { reference: 0, state: 0 }
  readonly #listeners: (() => void)[] = []
  readonly #holds = new Set<() => void>()
  readonly #clockShiftMs: number
  #closed = false

  /**
   * @throws StructureError if the memory is of another version, or the space has had more members than fit a holder's
   *   word.
   */
  constructor(
    name: string,
    memory: WordMemory,
    peers: Peers,
    meters: Meters = new Meters(),
    backing: Backing = wholeBacking,
  ) {
    this.name = name
    this.meters = meters
    this.memory = memory
    this.peers = peers
    this.#clockShiftMs = peers.clockShiftMs ?? 0
    checkMember(name, peers)
    this.seed = introduce(name, memory)
    this.blocks = new BlockTable(memory, layoutOf(memory.lengthBytes))
    this.#allocator = new Allocator(this.blocks, peers.slot, backing)
    this.gate = new Gate(memory, peers)
    this.left = new Bell(this, HeaderOffset.LeftBell)
    this.epochs = new Epochs(memory, this.blocks, this.#allocator, peers, () => this.left.ring())
    this.#recovery = new HeapRecovery(
      memory,
      this.blocks,
      this.#allocator,
      this.epochs,
      peers,
      this.#reach,
      this.#settlers,
    )
    this.self = new Participant(memory, peers.slot)
    this.intent = this.self.intent
    this.owner = ownerWord(peers.slot, peers.epoch)
  }

  /** Define how blocks of a kind of structure are looked for. Call it before {@link join}. */
  addReach(reach: number, test: ReachTest): void {
    this.#reach.set(reach, test)
  }

  /** Define how another part of a participant's entry is settled. Call it before {@link join}. */
  addSettler(settler: Settler): void {
    this.#settlers.push(settler)
  }

  /** Have `collector` called, between operations, when memory is needed: it retires what it can do without. */
  addCollector(collector: () => void): void {
    this.#collectors.push(collector)
  }

  /** Take this member's entry, after recovering its previous owner. */
  join(): void {
    const { self } = this
    for (let attempt = 0; attempt < JOIN_ATTEMPTS; attempt += 1) {
      const { identity } = self
      if (identity === 0 && self.become(0, this.peers.epoch, ParticipantState.Active)) {
        this.#raiseHigh()
        return
      }
      // Another may be recovering it this moment.
      if (identity !== 0 && !this.#recovery.recover(self, identity)) this.#pause(1)
    }
    throw new StructureError('ERR_AETHER_STRUCTURES_FULL', this.name, `slot ${this.peers.slot} is never recovered`)
  }

  /** Milliseconds of the clock by which times are kept in the heap. It goes on over a restart of the machine. */
  nowMs(): number {
    return nowMs() + this.#clockShiftMs
  }

  get closed(): boolean {
    return this.#closed
  }

  /** Each operation begins with this: it waits while the gate is closed. @throws ClosedError */
  checkOpen(): void {
    if (this.#closed) throw new ClosedError(`the structures in '${this.name}'`)
    if (this.memory.peek(HeaderOffset.Gate) !== 0) this.gate.pass()
  }

  /**
   * Take a block, named by the intent, which has begun. Do not call it from inside an operation: to find memory, all
   * members have to be outside of one for a moment. `essential`: the block is needed to give memory back in the end,
   * and may come from a reserve.
   * @throws HeapFullError; the intent has then ended.
   */
  allocate(lengthBytes: number, essential: boolean = false): Allocation {
    if (!this.#allocator.allocate(lengthBytes, this.intent, this.#allocation, essential))
      this.#allocateUnderPressure(lengthBytes, essential)
    return this.#allocation
  }

  /** Overwrite blocks when they are freed, so that code that still looks at one finds out. */
  poisonFreed(): void {
    this.blocks.poisons = true
  }

  /** Give back a block that was never linked. */
  release(reference: number): void {
    this.#allocator.free(reference, this.blocks.state(reference))
  }

  /** Whether the holder of something is still there; `ask`: ask the operating system. */
  isHolderThere(owner: number, ask: boolean): boolean {
    const slot = ownerSlot(owner)
    const epoch = ownerEpoch(owner)
    return ask ? this.peers.isAlive(slot, epoch) : this.peers.isPresent(slot, epoch)
  }

  /** The description of a wait for `object`, which `owner` holds. */
  describeWait(object: string, owner: number): WaitDescription {
    const holder = owner === 0 ? undefined : this.peers.memberOf?.(ownerSlot(owner), ownerEpoch(owner))
    const state = holder === undefined ? '' : `${processInWords(holder)} has it`
    const processes = holder === undefined || holder.foreign === true ? [] : [holder.processId]
    return { kind: 'structure', object: `${object} in '${this.name}'`, state, ranks: [], processes }
  }

  /** Recover members that are known to be gone; `ask`: find out which are. */
  recover(ask: boolean = false): void {
    this.#recovery.recoverAll(ask)
  }

  /** Free all that can be freed now. */
  collect(): void {
    for (const collector of this.#collectors) collector()
    for (let turn = 0; turn < 3; turn += 1) this.epochs.advance()
    this.epochs.collect()
  }

  /** Give back the memory that is free, if this heap does. */
  giveBack(): void {
    this.#allocator.giveBack()
  }

  usage(): HeapUsage {
    const { slabs } = this.blocks.layout
    const { resident } = countSlabs(this.blocks)
    const takenBytes = resident * SLAB_BYTES
    return { usedBytes: this.blocks.usedBytes(), takenBytes, sizeBytes: slabs * SLAB_BYTES }
  }

  /** Have `listener` called when this participant leaves. */
  onClose(listener: () => void): void {
    this.#listeners.push(listener)
  }

  /**
   * Something is held until `release` is called; {@link close} calls it too. Returns a function that releases it, once.
   */
  hold(release: () => void): () => void {
    const once = () => {
      if (this.#holds.delete(once)) release()
    }
    this.#holds.add(once)
    return once
  }

  /** The memory is gone from this process; others recover this participant as they would a dead one. Idempotent. */
  abandon(): void {
    if (this.#closed) return
    this.#closed = true
    this.meters.close()
    this.#holds.clear()
    for (const listener of this.#listeners) listener()
  }

  /** Leave. Blocks that others may still be looking at are left for the next member to find. Idempotent. */
  close(): void {
    if (this.#closed) return
    for (const release of this.#holds) release()
    for (const settle of this.#settlers) settle(this.self)
    this.epochs.leave()
    this.collect()
    this.giveBack()
    this.abandon()
    const state = this.epochs.waiting === 0 ? ParticipantState.Vacant : ParticipantState.Ended
    this.self.become(this.self.identity, this.peers.epoch, state)
  }

  #allocateUnderPressure(lengthBytes: number, essential: boolean): void {
    let behind = -1
    for (let attempt = 0; attempt < PRESSURE_ATTEMPTS && !this.epochs.inside; attempt += 1) {
      this.recover(attempt > 2)
      if (attempt === 0) this.#allocator.askAgain()
      this.#collectMeanwhile()
      behind = this.epochs.advance()
      this.epochs.collect()
      if (attempt > 0) this.#allocator.closeEmptySlabs()
      if (this.#allocateAnySize(lengthBytes, essential)) return
      if (behind >= 0) this.#pause(PRESSURE_PAUSE_MS)
    }
    this.intent.end()
    const { usedBytes, sizeBytes } = this.usage()
    const why =
      behind < 0
        ? ''
        : `; some of it waits for the member in slot ${behind}, which is inside an operation; check whether it is stopped`
    throw new HeapFullError(lengthBytes, usedBytes, sizeBytes, why, { cause: this.#allocator.refusal })
  }

  /** Collectors have intents of their own; ours has begun and names nothing yet. */
  #collectMeanwhile(): void {
    const { structure, reach } = this.intent
    for (const collector of this.#collectors) collector()
    this.intent.begin(structure, reach)
  }

  /** For an essential block, one that is too large is better than none. */
  #allocateAnySize(lengthBytes: number, essential: boolean): boolean {
    for (let length = lengthBytes; ; length *= 1.5) {
      if (this.#allocator.allocate(length, this.intent, this.#allocation, essential)) return true
      if (!essential || length * 1.5 > SLAB_BYTES) return false
    }
  }

  /** Nothing wakes this. */
  #pause(milliseconds: number): void {
    this.memory.wait(HeaderOffset.Magic, HEAP_MAGIC, milliseconds)
  }

  #raiseHigh(): void {
    const wanted = this.peers.slot + 1
    for (;;) {
      const high = this.memory.load(HeaderOffset.ParticipantsHigh)
      if (high >= wanted) return
      this.memory.compareExchange(HeaderOffset.ParticipantsHigh, high, wanted)
    }
  }
}

/** Where the block behind a reference begins. */
export function offsetOf(reference: number): number {
  return reference * GRANULE_BYTES
}

function checkMember(name: string, { slot, epoch }: Peers): void {
  const rule = `the space has had ${epoch} members and this one is in slot ${slot}`
  if (slot < PARTICIPANTS_MAX && epoch <= EPOCH_MAX) return
  throw new StructureError(
    'ERR_AETHER_STRUCTURES_FULL',
    name,
    `${rule}; end all of its processes, then start them again`,
  )
}

/**
 * Write the heap's own words, or compare them. Each word separately: all members believe the first that was written.
 * Returns the seed.
 */
function introduce(name: string, memory: WordMemory): number {
  const { slabs } = layoutOf(memory.lengthBytes)
  const wanted: readonly (readonly [number, number])[] = [
    [HeaderOffset.Magic, HEAP_MAGIC],
    [HeaderOffset.Version, HEAP_VERSION],
    [HeaderOffset.Slabs, slabs],
  ]
  for (const [offset, value] of wanted) {
    const there = memory.compareExchange(offset, 0, value)
    if (there !== 0 && there !== value) {
      const what = `region '${name}' holds other data than structures, or structures of another version of this package`
      throw new StructureError('ERR_AETHER_STRUCTURES_VERSION', name, what)
    }
  }
  memory.compareExchange(HeaderOffset.Seed, 0, 1 + Math.floor(Math.random() * 0x7ffffffe))
  return memory.load(HeaderOffset.Seed)
}
