import type { Cell } from '../protocol.ts'

/** A cell of a table: having done `actions` in their order, be in `next`. */
export const to = <Action, State extends string>(next: State, ...actions: Action[]): Cell<Action, State> => ({
  actions,
  next,
})
