/** Reads that are answered before requests are looked at one by one: they are told from others by nothing but time. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { useRuntimeDirectory } from '../cluster/support.ts'
import { openDoor } from './support/door.ts'

useRuntimeDirectory()

