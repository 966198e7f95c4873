import type { HistoryCall, SequentialModel } from '../history.ts'

/** Values by the names of registers; 0 stands for none. */
export type RegisterValues = Readonly<Record<string, number>>

/** What is done to registers of which several are read, or changed, at the same moment. */
export type RegistersInput =
  | { readonly type: 'read'; readonly registers: readonly string[] }
  | { readonly type: 'write'; readonly values: RegisterValues }
  | { readonly type: 'compareAndSet'; readonly expected: RegisterValues; readonly values: RegisterValues }

/** What they hold. The name is of those that hold anything. */
interface Registers {
  readonly values: ReadonlyMap<string, number>
  readonly name: string
}

type RegistersCall = HistoryCall<RegistersInput, readonly number[]>

/**
 * Several registers as one object: a hash with its fields, keys of one slot, or a range of keys. Outputs: the values in
 * the order of a read; `[1]` where a change was made, `[0]` where not.
 */
export const registersModel: SequentialModel<Registers, RegistersInput, readonly number[]> = {
  initial: { values: new Map(), name: '' },
  step(state, input, output) {
    if (input.type === 'read') {
      const isSo = output?.value.every((value, place) => value === heldIn(state, input.registers[place]!))
      return isSo === false ? undefined : { state }
    }
    const applies =
      input.type === 'write' || Object.entries(input.expected).every(([name, value]) => heldIn(state, name) === value)
    if (output !== undefined && output.value[0] !== Number(applies)) return undefined
    return { state: applies ? changed(state, input.values) : state }
  },
  nameOf: ({ name }) => name,
  kindOf: ({ type }) => (type === 'read' ? 'read' : 'other'),
  unseenIn: unseen,
}

function heldIn({ values }: Registers, name: string): number {
  return values.get(name) ?? 0
}

function changed({ values }: Registers, changes: RegisterValues): Registers {
  const after = new Map(values)
  for (const [name, value] of Object.entries(changes)) {
    if (value === 0) after.delete(name)
    else after.set(name, value)
  }
  const held = [...after].sort(([one], [other]) => (one < other ? -1 : 1))
  return { values: after, name: held.map(([name, value]) => `${name}=${value}`).join(' ') }
}

/** No one has read what it wrote, or expected it; and no one was refused because something else was there. */
function unseen(history: readonly RegistersCall[]): (input: RegistersInput) => boolean {
  const seen = new Set<string>()
  const guarded = new Set<string>()
  for (const { input, returned } of history) {
    if (input.type === 'read')
      for (const [place, value] of (returned?.output ?? []).entries()) seen.add(`${input.registers[place]}=${value}`)
    else if (input.type === 'compareAndSet')
      for (const [name, value] of Object.entries(input.expected)) {
        seen.add(`${name}=${value}`)
        if (returned?.output[0] !== 1) guarded.add(name)
      }
  }
  return (input) =>
    input.type !== 'read' &&
    Object.entries(input.values).every(([name, value]) => !seen.has(`${name}=${value}`) && !guarded.has(name))
}
