import { ValueList } from './value-list.ts'

/** Last in, first out, among many processes. Each value is taken once. */
export class SharedStack<V> extends ValueList<V> {}
