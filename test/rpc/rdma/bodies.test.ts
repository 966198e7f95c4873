import test from 'node:test'
import { bodyCases } from './body-cases.ts'
import { grounds } from './pairs.ts'

for (const ground of grounds) test(`long bodies: ${ground.name}`, { skip: ground.skip }, (t) => bodyCases(t, ground))
