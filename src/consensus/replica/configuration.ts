import { RecordReader, RecordWriter } from '../machine/records.ts'

/** A replica that votes. */
export interface Voter {
  /** Of this incarnation: a replica that lost its memory comes back with another. Below 2^48. */
  readonly id: number
  /** See `term.ts`. */
  readonly number: number
}

/**
 * The replicas that vote. An entry of the log changes them. The old voters decide it. Entries behind it are decided by
 * the new ones, and not before it is decided itself.
 */
export interface Configuration {
  /** Tells this log from others, whose replicas have the same name. 0 where logs do not outlive their group. */
  readonly log: number
  readonly version: number
  readonly voters: readonly Voter[]
  /** The number that the next new voter is given. */
  readonly nextNumber: number
}

/** The configuration of a new log. */
export function foundingConfiguration(ids: readonly number[], log = 0): Configuration {
  return { log, version: 0, voters: ids.map((id, number) => ({ id, number })), nextNumber: ids.length }
}

export function majorityOf({ voters }: Configuration): number {
  return Math.floor(voters.length / 2) + 1
}

/** `numbers`: how many there are. */
export function withVoters(configuration: Configuration, ids: readonly number[], numbers: number): Configuration {
  const voters = [...configuration.voters]
  let { nextNumber } = configuration
  for (const id of ids) {
    nextNumber %= numbers
    while (voters.some(({ number }) => number === nextNumber)) nextNumber = (nextNumber + 1) % numbers
    voters.push({ id, number: nextNumber })
    nextNumber += 1
  }
  return { ...configuration, version: configuration.version + 1, voters, nextNumber }
}

export function withoutVoter(configuration: Configuration, id: number): Configuration {
  const { version, voters } = configuration
  return { ...configuration, version: version + 1, voters: voters.filter((voter) => voter.id !== id) }
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
