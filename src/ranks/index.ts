/** The door of this room: what the programs of a group's ranks do together. */
export { makePrograms } from './rank-programs.ts'
