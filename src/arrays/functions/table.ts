import { type Creation, creation } from './creation.ts'
import { type DataTypes, dataTypes } from './data-types.ts'
import { type Elementwise, elementwiseFunctions } from './elementwise.ts'
import type { Entry, NodeEntry } from './entry.ts'
import { type Fourier, fourier } from './fft.ts'
import { type Indexing, indexing } from './indexing.ts'
import { type LinearAlgebra, linearAlgebra, type Products } from './linalg.ts'
import { type Manipulation, manipulation } from './manipulation.ts'
import { type NumpyFunctions, numpyFunctions } from './numpy.ts'
import { type Random, randomFunctions } from './random.ts'
import { type Searching, searching } from './searching.ts'
import { type Sets, sets } from './sets.ts'
import { type Sorting, sorting } from './sorting.ts'
import { type Sparse, sparseFunctions } from './sparse.ts'
import { type Statistics, statistics } from './statistics.ts'
import { type Utility, utility } from './utility.ts'

/** Every function of the namespace: a family of functions adds a line here, and one below. */
export const FUNCTIONS: readonly (Entry | NodeEntry)[] = [
  ...creation,
  ...dataTypes,
  ...elementwiseFunctions,
  ...fourier,
  ...indexing,
  ...linearAlgebra,
  ...manipulation,
  ...numpyFunctions,
  ...randomFunctions,
  ...searching,
  ...sets,
  ...sorting,
  ...sparseFunctions,
  ...statistics,
  ...utility,
]

/** Their types by camelCase names. Functions of an extension are in a record of its name: `{ fft: Fourier }`. */
export interface Functions
  extends Creation,
    DataTypes,
    Elementwise,
    Indexing,
    Manipulation,
    NumpyFunctions,
    Products,
    Random,
    Searching,
    Sets,
    Sorting,
    Sparse,
    Statistics,
    Utility {
  fft: Fourier
  linalg: LinearAlgebra
}
