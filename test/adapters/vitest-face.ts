/** What Keyv's test suite asks of the test runner that it was written for, over node:test. */
import assert from 'node:assert/strict'
import { afterEach, beforeEach, it } from 'node:test'

interface Matchers {
  toBe(wanted: unknown): void
  toEqual(wanted: unknown): void
  toBeTruthy(): void
  toBeFalsy(): void
  toBeNull(): void
  toBeUndefined(): void
  toBeDefined(): void
}

/** Counts what was expected, for `assertions`. */
class Expectations {
  #wanted: number | undefined
  #made = 0

  readonly expect: ((actual: unknown) => Matchers) & { assertions(count: number): void } = Object.assign(
    (actual: unknown): Matchers => {
      this.#made += 1
      return {
        toBe: (wanted) => assert.ok(Object.is(actual, wanted), `${String(actual)} is not ${String(wanted)}`),
        toEqual: (wanted) => assert.deepEqual(actual, wanted),
        toBeTruthy: () => assert.ok(actual),
        toBeFalsy: () => assert.ok(!actual),
        toBeNull: () => assert.equal(actual, null),
        toBeUndefined: () => assert.equal(actual, undefined),
        toBeDefined: () => assert.notEqual(actual, undefined),
      }
    },
    {
      assertions: (count: number): void => {
        this.#wanted = count
      },
    },
  )

  check(): void {
    if (this.#wanted !== undefined) assert.equal(this.#made, this.#wanted, 'expectations made')
  }
}

type Body = (context: Pick<Expectations, 'expect'>) => unknown

/** Handed to the suite in the place of its runner. */
export const vitestFace: {
  it(name: string, body: Body): void
  beforeEach: typeof beforeEach
  afterEach: typeof afterEach
} = {
  beforeEach,
  afterEach,

  it(name, body) {
    void it(name, async () => {
      const expectations = new Expectations()
      await body(expectations)
      expectations.check()
    })
  },
}
