import assert from 'node:assert/strict'
import { test } from 'node:test'
import { inspect } from 'node:util'
import { type NdArray, openArrays } from '../../src/arrays/index.ts'

const xp = await openArrays()
/** What NumPy 2.4 prints, as text and as a representation. */
const cases: readonly (readonly [string, NdArray, string, string])[] = [
  ['xp.asarray([1, 2, 3])', xp.asarray([1, 2, 3]), '[1. 2. 3.]', 'array([1., 2., 3.])'],
  ['xp.asarray(1 / 3)', xp.asarray(1 / 3), '0.3333333333333333', 'array(0.33333333)'],
  ['xp.asarray(1e20)', xp.asarray(1e20), '1e+20', 'array(1.e+20)'],
  ['xp.asarray(5n)', xp.asarray(5n), '5', 'array(5)'],
  ['xp.asarray(true)', xp.asarray(true), 'True', 'array(True)'],
  [
    'xp.asarray([1.5, -2.25, 1e10])',
    xp.asarray([1.5, -2.25, 1e10]),
    '[ 1.50e+00 -2.25e+00  1.00e+10]',
    'array([ 1.50e+00, -2.25e+00,  1.00e+10])',
  ],
  ['xp.asarray([1e-5, 1])', xp.asarray([1e-5, 1]), '[1.e-05 1.e+00]', 'array([1.e-05, 1.e+00])'],
  [
    'xp.asarray([0.1, 0.12345678901, 100])',
    xp.asarray([0.1, 0.12345678901, 100]),
    '[  0.1          0.12345679 100.        ]',
    'array([  0.1       ,   0.12345679, 100.        ])',
  ],
  [
    'xp.asarray([Number.NaN, 1, -Infinity])',
    xp.asarray([Number.NaN, 1, -Infinity]),
    '[ nan   1. -inf]',
    'array([ nan,   1., -inf])',
  ],
  ['xp.asarray([-0, 0])', xp.asarray([-0, 0]), '[-0.  0.]', 'array([-0.,  0.])'],
  ['xp.asarray([true, false])', xp.asarray([true, false]), '[ True False]', 'array([ True, False])'],
  [
    'xp.asarray([{ re: 1, im: 2 }, { re: 3, im: -4.5 }])',
    xp.asarray([
      { re: 1, im: 2 },
      { re: 3, im: -4.5 },
    ]),
    '[1.+2.j  3.-4.5j]',
    'array([1.+2.j , 3.-4.5j])',
  ],
  [
    'xp.asarray([{ re: Number.NaN, im: 1 }, { re: 2, im: -Infinity }])',
    xp.asarray([
      { re: Number.NaN, im: 1 },
      { re: 2, im: -Infinity },
    ]),
    '[nan +1.j  2.-infj]',
    'array([nan +1.j,  2.-infj])',
  ],
  ['xp.asarray({ re: 1, im: 2 })', xp.asarray({ re: 1, im: 2 }), '(1+2j)', 'array(1.+2.j)'],
  ['xp.zeros([0, 3])', xp.zeros([0, 3]), '[]', 'array([], shape=(0, 3), dtype=float64)'],
  ['xp.zeros([0], { dtype: xp.int32 })', xp.zeros([0], { dtype: xp.int32 }), '[]', 'array([], dtype=int32)'],
  [
    'xp.asarray([0.1, 0.2], { dtype: xp.float32 })',
    xp.asarray([0.1, 0.2], { dtype: xp.float32 }),
    '[0.1 0.2]',
    'array([0.1, 0.2], dtype=float32)',
  ],
  [
    'xp.arange(24n).reshape([2, 3, 4])',
    xp.arange(24n).reshape([2, 3, 4]),
    '[[[ 0  1  2  3]\n  [ 4  5  6  7]\n  [ 8  9 10 11]]\n\n [[12 13 14 15]\n  [16 17 18 19]\n  [20 21 22 23]]]',
    'array([[[ 0,  1,  2,  3],\n        [ 4,  5,  6,  7],\n        [ 8,  9, 10, 11]],\n\n       [[12, 13, 14, 15],\n        [16, 17, 18, 19],\n        [20, 21, 22, 23]]])',
  ],
  [
    'xp.arange(30n).astype(xp.uint8).add(200)',
    xp.arange(30n).astype(xp.uint8).add(200),
    '[200 201 202 203 204 205 206 207 208 209 210 211 212 213 214 215 216 217\n 218 219 220 221 222 223 224 225 226 227 228 229]',
    'array([200, 201, 202, 203, 204, 205, 206, 207, 208, 209, 210, 211, 212,\n       213, 214, 215, 216, 217, 218, 219, 220, 221, 222, 223, 224, 225,\n       226, 227, 228, 229], dtype=uint8)',
  ],
  [
    'xp.arange(9).exp()',
    xp.arange(9).exp(),
    '[1.00000000e+00 2.71828183e+00 7.38905610e+00 2.00855369e+01\n 5.45981500e+01 1.48413159e+02 4.03428793e+02 1.09663316e+03\n 2.98095799e+03]',
    'array([1.00000000e+00, 2.71828183e+00, 7.38905610e+00, 2.00855369e+01,\n       5.45981500e+01, 1.48413159e+02, 4.03428793e+02, 1.09663316e+03,\n       2.98095799e+03])',
  ],
  [
    'xp.arange(2000)',
    xp.arange(2000),
    '[0.000e+00 1.000e+00 2.000e+00 ... 1.997e+03 1.998e+03 1.999e+03]',
    'array([0.000e+00, 1.000e+00, 2.000e+00, ..., 1.997e+03, 1.998e+03,\n       1.999e+03], shape=(2000,))',
  ],
  [
    'xp.arange(10000n).reshape([100, 100])',
    xp.arange(10000n).reshape([100, 100]),
    '[[   0    1    2 ...   97   98   99]\n [ 100  101  102 ...  197  198  199]\n [ 200  201  202 ...  297  298  299]\n ...\n [9700 9701 9702 ... 9797 9798 9799]\n [9800 9801 9802 ... 9897 9898 9899]\n [9900 9901 9902 ... 9997 9998 9999]]',
    'array([[   0,    1,    2, ...,   97,   98,   99],\n       [ 100,  101,  102, ...,  197,  198,  199],\n       [ 200,  201,  202, ...,  297,  298,  299],\n       ...,\n       [9700, 9701, 9702, ..., 9797, 9798, 9799],\n       [9800, 9801, 9802, ..., 9897, 9898, 9899],\n       [9900, 9901, 9902, ..., 9997, 9998, 9999]], shape=(100, 100))',
  ],
]

for (const [name, array, text, representation] of cases) {
  test(`${name} prints as NumPy has it`, () => {
    assert.equal(String(array), text)
    assert.equal(inspect(array), representation)
  })
}
