/** Objects by the numbers that name them in work requests. A number is never reused. */
export class Tokens<T> {
  readonly #objects = new Map<number, T>()
  #next = 1

  add(object: T): number {
    const token = this.#next
    this.#next += 1
    this.#objects.set(token, object)
    return token
  }

  get(token: number): T | undefined {
    return this.#objects.get(token)
  }

  remove(token: number): void {
    this.#objects.delete(token)
  }
}
