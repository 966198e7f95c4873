import { test } from 'node:test'
import { endpointCases } from './endpoint-cases.ts'
import { deviceFabric, simulatedFabric } from './endpoint-fabrics.ts'

for (const fabric of [deviceFabric('shm0', '127.0.0.1'), simulatedFabric(11)])
  for (const { name, listens, run } of endpointCases)
    if (listens === undefined || fabric.where !== undefined) test(`over ${fabric.name}: ${name}`, () => run(fabric))
