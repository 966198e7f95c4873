import { LookNumber, native } from '../../native/index.ts'

/** For whom reads are answered. */
export interface Asker {
  readonly db: number
  /** Version of RESP. */
  readonly protocol: 2 | 3
}

/**
 * Answers reads of clients of Redis, many at a time, out of the records of a table. It takes `GET` and `HGET` as the
 * bytes that came, and makes the bytes of their replies. It is for the process that writes the table.
 */
export class RecordLooks {
  readonly #chunks: readonly Uint8Array[]
  readonly #numbers = new Float64Array(LookNumber.Count)

  /** `chunks`: of the table. There may be more of them later. */
  constructor(chunks: readonly Uint8Array[]) {
    this.#chunks = chunks
  }

  /** Of the last answer: its bytes, and how many commands of each name it is of. */
  get replyBytes(): number {
    return this.#numbers[LookNumber.ReplyBytes]!
  }

  get gets(): number {
    return this.#numbers[LookNumber.Gets]!
  }

  get fieldGets(): number {
    return this.#numbers[LookNumber.FieldGets]!
  }

  /**
   * Answer the requests at the start of `requests` into `replies`. It stops before one that is another, not whole,
   * about a value of another type, or without room. Returns how many bytes are answered.
   */
  answer(requests: Uint8Array, replies: Uint8Array, { db, protocol }: Asker): number {
    const numbers = this.#numbers
    numbers[LookNumber.Database] = db
    numbers[LookNumber.Protocol] = protocol
    numbers[LookNumber.NowMs] = Date.now()
    return native.answerLooks(this.#chunks, requests, replies, numbers)
  }
}
