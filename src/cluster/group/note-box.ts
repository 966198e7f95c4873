import type { GroupNote } from './group-machine.ts'

/** Keeps the agent's messages until there is a group to hear them. */
export class NoteBox {
  readonly #kept: GroupNote[] = []
  #listener: ((note: GroupNote) => void) | undefined

  readonly take = (note: unknown): void => {
    if (this.#listener === undefined) this.#kept.push(note as GroupNote)
    else this.#listener(note as GroupNote)
  }

  open(listener: (note: GroupNote) => void): void {
    this.#listener = listener
    for (const note of this.#kept.splice(0)) listener(note)
  }
}
