import { describe, expect, it } from 'vitest';
import { obstetricEndpoint } from '../../../pipelines/obstetric/endpoint.ts';

const accepts = (input: unknown) => obstetricEndpoint.input.safeParse(input).success;
const withOptions = (options: unknown) => ({ files: ['file_1'], options });
const withIndication = (characters: number) => ({
  files: ['file_1'],
  clinical_context: { indication: 'x'.repeat(characters) },
});

describe('the input of us/obstetric/interpret (api 2.3)', () => {
  it.each([
    ['files alone', { files: ['file_1'] }],
    ['41 to 301 days: 42', withOptions({ dating: { ga_days: 42 } })],
    ['301', withOptions({ dating: { ga_days: 301, basis: 'ivf' } })],
    ['5 mm per pixel', withOptions({ mm_per_px: 5 })],
    ['0.005 mm per pixel', withOptions({ mm_per_px: 0.005 })],
    ['an indication of 2000 characters', withIndication(2000)],
    ['an age of 130', { files: ['file_1'], clinical_context: { age_years: 130, sex: 'female' } }],
  ])('takes %s', (_, input) => {
    expect(accepts(input)).toBe(true);
  });

  it.each([
    ['no files', { files: [] }],
    ['41 days', withOptions({ dating: { ga_days: 41 } })],
    ['302 days', withOptions({ dating: { ga_days: 302 } })],
    ['half a day', withOptions({ dating: { ga_days: 140.5 } })],
    ['dating without an age', withOptions({ dating: { basis: 'lmp' } })],
    ['an unknown basis', withOptions({ dating: { ga_days: 140, basis: 'guess' } })],
    ['5.1 mm per pixel', withOptions({ mm_per_px: 5.1 })],
    ['0 mm per pixel', withOptions({ mm_per_px: 0 })],
    ['0.0049 mm per pixel', withOptions({ mm_per_px: 0.0049 })],
    ['another language', withOptions({ report_language: 'de' })],
    ['a misspelt option', withOptions({ reprot: true })],
    ['an indication of 2001 characters', withIndication(2001)],
    ['an age of 131', { files: ['file_1'], clinical_context: { age_years: 131 } }],
    ['a name', { files: ['file_1'], clinical_context: { name: 'Zoe' } }],
  ])('refuses %s', (_, input) => {
    expect(accepts(input)).toBe(false);
  });

  it('has its defaults: dated by LMP, previews, no report', () => {
    const parsed = obstetricEndpoint.input.parse(withOptions({ dating: { ga_days: 140 } }));
    expect(parsed.options).toMatchObject({
      dating: { basis: 'lmp' },
      previews: true,
      report: false,
      return: ['json'],
    });
  });
});

describe('the price', () => {
  const amounts = (options?: Record<string, unknown>) =>
    obstetricEndpoint.price({ options }).map(({ amount }) => amount);

  it('is 0.08 USD, and 0.02 more with the report', () => {
    expect(amounts()).toEqual(['0.08']);
    expect(amounts({ report: false })).toEqual(['0.08']);
    expect(amounts({ report: true })).toEqual(['0.08', '0.02']);
  });
});
