import { Buffer } from 'node:buffer'
import type { ByteReader } from './byte-reader.ts'
import type { ByteWriter } from './byte-writer.ts'
import type { CommandName } from './records.ts'

interface Unfinished extends CommandName {
  readonly parts: Uint8Array[]
}

interface Fragment extends CommandName {
  readonly part: number
  readonly bytes: Uint8Array
}

/** The rest of a command, and how many fragments belong before it. */
interface LastPart extends CommandName {
  readonly parts: number
  readonly bytes: Uint8Array
}

/** The fragments of commands that have not come to their end. */
export class Fragments {
  readonly #unfinished = new Map<string, Unfinished>()

  /** A part that is not the next one drops those before it: all are sent again from part 0. */
  add({ session, sequence, part, bytes }: Fragment): void {
    const key = `${session} ${sequence}`
    const copy = Uint8Array.prototype.slice.call(bytes)
    const parts = this.#unfinished.get(key)?.parts
    if (part === 0) this.#unfinished.set(key, { session, sequence, parts: [copy] })
    else if (part === parts?.length) parts.push(copy)
    else this.#unfinished.delete(key)
  }

  /** Take what there is of a command. All its bytes; undefined unless just its `parts` fragments were here. */
  complete({ session, sequence, parts, bytes }: LastPart): Uint8Array | undefined {
    const before = this.#unfinished.size === 0 ? undefined : this.#take(`${session} ${sequence}`)?.parts
    if (parts === 0) return bytes
    return before?.length === parts ? Buffer.concat([...before, bytes]) : undefined
  }

  dropSession(id: number): void {
    for (const [key, { session }] of this.#unfinished) if (session === id) this.#unfinished.delete(key)
  }

  dropAll(): void {
    this.#unfinished.clear()
  }

  encode(writer: ByteWriter): void {
    writer.u32(this.#unfinished.size)
    for (const { session, sequence, parts } of this.#unfinished.values()) {
      writer.u48(session)
      writer.u32(sequence)
      writer.u32(parts.length)
      for (const part of parts) {
        writer.u32(part.length)
        writer.append(part)
      }
    }
  }

  static decode(reader: ByteReader): Fragments {
    const fragments = new Fragments()
    for (let count = reader.u32(); count > 0; count -= 1) {
      const [session, sequence, partCount] = [reader.u48(), reader.u32(), reader.u32()]
      for (let part = 0; part < partCount; part += 1)
        fragments.add({ session, sequence, part, bytes: reader.take(reader.u32()) })
    }
    return fragments
  }

  #take(key: string): Unfinished | undefined {
    const unfinished = this.#unfinished.get(key)
    this.#unfinished.delete(key)
    return unfinished
  }
}
