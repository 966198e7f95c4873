import { Random } from 'aether-dsm/internal/runtime'
import type { Acts, AgreementEvent, Data, Process, Register } from '../model/process.ts'

/** Takes part in nothing. */
export class Silent implements Process {
  step(): void {}
}

/**
 * Keeps to the algorithm, except that now and then it writes something else. That is what it has seen elsewhere, a
 * value with another part, or nothing; and it may be different at each memory. It signs all that with its own key.
 */
export class Tamperer implements Process {
  readonly process: Process
  readonly random: Random
  readonly seen: Data[] = []

  constructor(process: Process, random: Random) {
    this.process = process
    this.random = random
  }

  step(event: AgreementEvent, acts: Acts): void {
    if (event.type === 'answer') for (const value of event.values) if (value !== null) this.seen.push(value)
    if (event.type === 'message') this.seen.push(event.message)
    this.process.step(
      event,
      tampered(acts, (value) => this.changed(value)),
    )
  }

  private changed(value: Data): Data {
    this.seen.push(value)
    if (this.random.below(4) > 0) return value
    const other = this.seen[this.random.below(this.seen.length)]!
    return this.random.below(2) === 0 ? other : altered(value, other, this.random)
  }
}

/** A value in which one part is that of another, or gone. */
function altered(value: Data, other: Data, random: Random): Data {
  if (typeof value === 'number') return value + 1
  if (typeof value !== 'object' || value === null) return random.below(2) === 0 ? null : other
  const names = Object.keys(value)
  if (names.length === 0) return other
  const name = names[random.below(names.length)]!
  const parts = value as Record<string, Data>
  const theirs = (typeof other === 'object' && other !== null ? (other as Record<string, Data>)[name] : other) ?? null
  const part = random.below(2) === 0 ? altered(parts[name]!, theirs, random) : theirs
  return Array.isArray(value)
    ? value.map((each: Data, at) => (String(at) === name ? part : each))
    : { ...parts, [name]: part }
}

/** What a process does, with each value and message changed on its way. */
function tampered(acts: Acts, changed: (value: Data) => Data): Acts {
  return {
    now: acts.now,
    send: (to, message) => acts.send(to, changed(message)),
    write: (memory, register, value, tag) => acts.write(memory, register, changed(value), tag),
    claim: (memory, register, value, tag) => acts.claim(memory, register, changed(value), tag),
    read: (memory, registers, tag) => acts.read(memory, registers, tag),
    permit: (memory, region, writers, tag) => acts.permit(memory, region, writers, tag),
    wake: (delays, tag) => acts.wake(delays, tag),
    flip: () => acts.flip(),
    sign: (text) => acts.sign(text),
    verify: (process, text, signature) => acts.verify(process, text, signature),
    decide: (value) => acts.decide(value),
    elect: (leader) => acts.elect(leader),
  }
}

/**
 * Tells one half of the memories one thing and the other half another. It runs the algorithm twice, with two inputs.
 * Each run has its own memories for what it writes.
 */
export class TwoFaced implements Process {
  readonly faces: readonly [Process, Process]
  readonly inputs: readonly [string, string]

  constructor(create: () => Process, inputs: readonly [string, string]) {
    this.faces = [create(), create()]
    this.inputs = inputs
  }

  step(event: AgreementEvent, acts: Acts): void {
    this.faces.forEach((face, number) => {
      const own = event.type === 'begin' ? { ...event, input: this.inputs[number]! } : event
      const mark = `${number}:`
      if (event.type === 'answer' || event.type === 'timer') {
        if (event.tag.startsWith(mark))
          face.step({ ...event, tag: event.tag.slice(mark.length) }, faceActs(acts, number))
      } else face.step(own, faceActs(acts, number))
    })
  }
}

function faceActs(acts: Acts, number: number): Acts {
  const mark = (tag: string): string => `${number}:${tag}`
  // A face that may not write to a memory reads there instead, so that it goes on as if it had.
  const mine = (memory: number): boolean => memory % 2 === number
  return {
    ...tampered(acts, (value) => value),
    write: (memory, register: Register, value, tag) =>
      mine(memory) ? acts.write(memory, register, value, mark(tag)) : acts.read(memory, [register], mark(tag)),
    claim: (memory, register, value, tag) => acts.claim(memory, register, value, mark(tag)),
    read: (memory, registers, tag) => acts.read(memory, registers, mark(tag)),
    permit: (memory, region, writers, tag) => acts.permit(memory, region, writers, mark(tag)),
    wake: (delays, tag) => acts.wake(delays, mark(tag)),
  }
}

/**
 * Has two faces alternately. Each runs the algorithm with an input of its own. What one writes is kept back while the
 * other is seen. When they change, everything is written over.
 */
export class Alternator implements Process {
  readonly faces: readonly [Process, Process]
  readonly inputs: readonly [string, string]
  readonly random: Random
  shown = 0
  /** By face, memory and register, what that face has written last. */
  readonly written: [Map<string, Written>, Map<string, Written>] = [new Map(), new Map()]
  readonly reads: Map<string, readonly Register[]> = new Map()

  constructor(create: () => Process, inputs: readonly [string, string], random: Random) {
    this.faces = [create(), create()]
    this.inputs = inputs
    this.random = random
  }

  step(event: AgreementEvent, acts: Acts): void {
    if (this.isTurn(event)) this.turn(acts)
    this.faces.forEach((face, number) => {
      const mark = `${number}:`
      const own = event.type === 'begin' ? { ...event, input: this.inputs[number]! } : event
      if (event.type !== 'answer' && event.type !== 'timer') face.step(own, this.actsOf(acts, number))
      else if (event.tag.startsWith(mark)) {
        const heard = event.type === 'answer' ? { ...event, values: this.seenBy(number, event) } : event
        face.step({ ...heard, tag: event.tag.slice(mark.length) }, this.actsOf(acts, number))
      }
    })
  }

  protected isTurn(event: AgreementEvent): boolean {
    return event.type === 'timer' && this.random.below(4) === 0
  }

  /** True if a face takes no notice of what is in that register. */
  protected ignores(_face: number, _register: Register): boolean {
    return false
  }

  /** What a face reads: where it has written itself, that, whatever is shown. */
  private seenBy(
    number: number,
    { memory, tag, values }: AgreementEvent & { readonly type: 'answer' },
  ): readonly Data[] {
    const registers = this.reads.get(`${tag} ${memory}`) ?? []
    this.reads.delete(`${tag} ${memory}`)
    return values.map((value, at) => {
      const register = registers[at]
      // A tag that was used twice: what it read the second time is not known.
      if (register === undefined) return value
      if (this.ignores(number, register)) return null
      return this.written[number]!.get(nameOf(memory, register))?.value ?? value
    })
  }

  private turn(acts: Acts): void {
    this.shown = 1 - this.shown
    for (const { memory, register, value } of this.written[this.shown]!.values())
      acts.write(memory, register, value, 'turn')
  }

  private actsOf(acts: Acts, number: number): Acts {
    const mark = (tag: string): string => `${number}:${tag}`
    return {
      ...faceActs(acts, number),
      write: (memory, register, value, tag) => {
        this.written[number]!.set(nameOf(memory, register), { memory, register, value })
        if (number === this.shown) acts.write(memory, register, value, mark(tag))
        else acts.read(memory, [], mark(tag))
      },
      read: (memory, registers, tag) => {
        this.reads.set(`${mark(tag)} ${memory}`, registers)
        acts.read(memory, registers, mark(tag))
      },
    }
  }
}

/**
 * Shows its other face each time that it is told of a leader. A face takes no notice of one of the others, to which it
 * is not shown.
 */
export class Puppet extends Alternator {
  readonly hiddenFrom: readonly [number, number]

  constructor(create: () => Process, inputs: readonly [string, string], hiddenFrom: readonly [number, number]) {
    super(create, inputs, new Random(1))
    this.hiddenFrom = hiddenFrom
  }

  protected override isTurn(event: AgreementEvent): boolean {
    return event.type === 'leader'
  }

  protected override ignores(face: number, { region }: Register): boolean {
    return region.endsWith(`/${this.hiddenFrom[face]!}`)
  }
}

const AGAIN = 'again'
/** How long it takes until all liars have taken back what they wrote, in delays. */
const DENIAL = 3

/**
 * Keeps to the algorithm, until it is told of a leader. Then it takes back what it has written, and begins again with
 * another input. From then on it does not see what some others have written.
 */
export class Convert implements Process {
  readonly create: () => Process
  readonly inputs: readonly [string, string]
  readonly ignores: readonly number[]
  process: Process
  life: 0 | 1 = 0
  readonly written: Map<string, Omit<Written, 'value'>> = new Map()
  readonly reads: Map<string, readonly Register[]> = new Map()

  constructor(create: () => Process, inputs: readonly [string, string], ignores: readonly number[]) {
    this.create = create
    this.inputs = inputs
    this.ignores = ignores
    this.process = create()
  }

  step(event: AgreementEvent, acts: Acts): void {
    const mark = `${this.life}:`
    if (event.type === 'begin') this.begin(acts)
    else if (event.type === 'leader') this.turn(acts)
    else if (event.type === 'timer' && event.tag === AGAIN) this.begin(acts)
    else if (event.type === 'message') this.process.step(event, acts)
    else if (event.tag.startsWith(mark)) {
      const heard = event.type === 'answer' ? { ...event, values: this.seen(event) } : event
      this.process.step({ ...heard, tag: event.tag.slice(mark.length) }, this.actsOf(acts))
    }
  }

  private begin(acts: Acts): void {
    this.process.step({ type: 'begin', input: this.inputs[this.life] }, this.actsOf(acts))
  }

  private turn(acts: Acts): void {
    for (const { memory, register } of this.written.values()) acts.write(memory, register, null, 'taken back')
    this.life = 1
    this.process = this.create()
    acts.wake(DENIAL, AGAIN)
  }

  private seen({ memory, tag, values }: AgreementEvent & { readonly type: 'answer' }): readonly Data[] {
    const registers = this.reads.get(`${tag} ${memory}`) ?? []
    this.reads.delete(`${tag} ${memory}`)
    const isIgnored = ({ region }: Register): boolean =>
      this.life === 1 && this.ignores.some((process) => region.endsWith(`/${process}`))
    return values.map((value, at) => (isIgnored(registers[at]!) ? null : value))
  }

  private actsOf(acts: Acts): Acts {
    const mark = (tag: string): string => `${this.life}:${tag}`
    return {
      ...tampered(acts, (value) => value),
      write: (memory, register, value, tag) => {
        this.written.set(nameOf(memory, register), { memory, register })
        acts.write(memory, register, value, mark(tag))
      },
      read: (memory, registers, tag) => {
        this.reads.set(`${mark(tag)} ${memory}`, registers)
        acts.read(memory, registers, mark(tag))
      },
      permit: (memory, region, writers, tag) => acts.permit(memory, region, writers, mark(tag)),
      wake: (delays, tag) => acts.wake(delays, mark(tag)),
    }
  }
}

const nameOf = (memory: number, { region, index }: Register): string => `${memory} ${region} ${index}`

interface Written {
  readonly memory: number
  readonly register: Register
  readonly value: Data
}
