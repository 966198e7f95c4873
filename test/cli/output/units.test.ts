import assert from 'node:assert/strict'
import { test } from 'node:test'
import { formatBytes, formatCount, formatRate, formatRatio, formatTime } from '../../../src/cli/output/units.ts'

function gives(format: (value: number) => string, expected: [number, string][]): void {
  for (const [value, text] of expected) assert.equal(format(value), text)
}

test('counts have their thousands separated', () => {
  gives(formatCount, [
    [0, '0'],
    [999, '999'],
    [4_000_000, '4,000,000'],
  ])
})

test('times are in the unit that suits them, with three digits', () => {
  gives(formatTime, [
    [0, '0.00 µs'],
    [0.00015, '150 ns'],
    [0.0009999, '1.00 µs'],
    [0.87, '870 µs'],
    [0.9999, '1.00 ms'],
    [12.34, '12.3 ms'],
    [999.4, '999 ms'],
    [999.6, '1.00 s'],
    [123_456, '123 s'],
  ])
})

test('rates, bytes and ratios too', () => {
  gives(formatRate, [
    [12, '12.0 /s'],
    [33_400, '33.4 k/s'],
    [999_900, '1.00 M/s'],
    [35_700_000, '35.7 M/s'],
  ])
  gives(formatBytes, [
    [0, '0 B'],
    [1023, '1023 B'],
    [4096, '4.00 KiB'],
    [1024 ** 2 - 1, '1.00 MiB'],
    [1.5 * 1024 ** 3, '1.50 GiB'],
  ])
  gives(formatRatio, [
    [0.042, '0.042x'],
    [1.634, '1.63x'],
    [104.2, '104x'],
  ])
})
