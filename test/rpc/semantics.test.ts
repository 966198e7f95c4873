import test from 'node:test'
import { grounds } from './rdma/pairs.ts'
import { semanticsCases } from './semantics-cases.ts'

for (const ground of grounds)
  test(`calls mean the same: ${ground.name}`, { skip: ground.skip }, (t) => semanticsCases(t, ground))
