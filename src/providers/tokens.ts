/** Objects by the numbers that work requests name them by. Numbers are not given again. */
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
