import { RecordReader, RecordWriter } from '../machine/records.ts'

/** A replica that votes. */
export interface Voter {
  /** Of this incarnation: a replica that lost its memory comes back with another. Below 2^48. */
  readonly id: number
  /** See `term.ts`. */
  readonly number: number
}

/** Who votes. One voter is added or removed at a time, by an entry of the log. */
export interface Configuration {
  readonly version: number
  readonly voters: readonly Voter[]
  /** The number that the next new voter is given. */
  readonly nextNumber: number
}

/** The configuration of a new log. */
export function foundingConfiguration(ids: readonly number[]): Configuration {
  return { version: 0, voters: ids.map((id, number) => ({ id, number })), nextNumber: ids.length }
}

export function majorityOf({ voters }: Configuration): number {
  return Math.floor(voters.length / 2) + 1
}

export function withVoter(configuration: Configuration, id: number, numbers: number): Configuration {
  const { version, voters, nextNumber } = configuration
  const taken = new Set(voters.map(({ number }) => number))
  let number = nextNumber % numbers
  while (taken.has(number)) number = (number + 1) % numbers
  return { version: version + 1, voters: [...voters, { id, number }], nextNumber: number + 1 }
}

export function withoutVoter(configuration: Configuration, id: number): Configuration {
  const { version, voters, nextNumber } = configuration
  return { version: version + 1, voters: voters.filter((voter) => voter.id !== id), nextNumber }
}

/** The payload of an entry. */
export function encodeConfiguration(configuration: Configuration): Uint8Array {
  const record = new RecordWriter()
  record.configuration(Buffer.from(JSON.stringify(configuration)))
  return record.bytes().slice()
}

export function decodeConfiguration(payload: Uint8Array): Configuration {
  const record = new RecordReader(payload)
  record.next()
  return JSON.parse(Buffer.from(record.bytes).toString()) as Configuration
}
