import { describe, expect, it } from 'vitest';
import { echoEndpoint } from '../../../pipelines/echo/endpoint.ts';
import { sumDecimals } from '../../../src/core/requests/request.ts';

const accepts = (input: unknown) => echoEndpoint.input.safeParse(input).success;
const withContext = (clinical_context: unknown) => ({ files: ['file_1'], clinical_context });

describe('the input of us/echo/interpret (api 2.4)', () => {
  it.each([
    ['files alone', { files: ['file_1'] }],
    ['30 cm and 1 kg', withContext({ height_cm: 30, weight_kg: 1 })],
    ['250 cm and 400 kg', withContext({ height_cm: 250, weight_kg: 400 })],
    ['an indication of 2000 characters', withContext({ indication: 'x'.repeat(2000) })],
    ['fractions', withContext({ height_cm: 172.5, weight_kg: 71.3 })],
    ['every option', { files: ['file_1'], options: { report: true, report_language: 'en' } }],
  ])('takes %s', (_, input) => expect(accepts(input)).toBe(true));

  it.each([
    ['no files', { files: [] }],
    ['29.9 cm', withContext({ height_cm: 29.9 })],
    ['250.1 cm', withContext({ height_cm: 250.1 })],
    ['0.9 kg', withContext({ weight_kg: 0.9 })],
    ['400.1 kg', withContext({ weight_kg: 400.1 })],
    ['an indication of 2001 characters', withContext({ indication: 'x'.repeat(2001) })],
    ['an age of 131', withContext({ age_years: 131 })],
    ['an option of the obstetric endpoint', { files: ['file_1'], options: { previews: true } }],
    ['a name', withContext({ name: 'Zoe' })],
  ])('refuses %s', (_, input) => expect(accepts(input)).toBe(false));
});

describe('the price by number of frames (api 1)', () => {
  const total = (frames: number, report = false) =>
    sumDecimals(echoEndpoint.price({ options: { report } }, frames).map(({ amount }) => amount));

  it.each([
    [0, '0.06'],
    [1000, '0.06'],
    [1001, '0.15'],
    [8000, '0.15'],
    [8001, '0.25'],
  ])('of %i frames is %s USD', (frames, price) => expect(total(frames)).toBe(price));

  it('is 0.02 more with the report, exactly', () => {
    expect(total(1, true)).toBe('0.08');
    expect(total(8001, true)).toBe('0.27');
  });
});
