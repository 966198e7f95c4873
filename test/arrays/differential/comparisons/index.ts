import type { Comparisons } from '../comparison.ts'
import { beyond } from './beyond.ts'
import { elementwise } from './elementwise.ts'
import { fft } from './fft.ts'
import { linalg } from './linalg.ts'
import { creation, dataTypes, indexing, manipulation, searching, sets, sorting, statistics, utility } from './whole.ts'

/** By the names of functions. */
export const comparisons: Comparisons = {
  ...creation,
  ...dataTypes,
  ...elementwise,
  ...indexing,
  ...manipulation,
  ...searching,
  ...sets,
  ...sorting,
  ...statistics,
  ...utility,
  ...linalg,
  ...fft,
  ...beyond,
}
