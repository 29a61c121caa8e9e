import { describe, expect, it } from 'vitest';
import { LONGEST_INDICATION } from '../../../../pipelines/contract/job.ts';
import { findIdentifiers, namedIdentifiers } from '../../../../src/core/requests/identifiers.ts';
import { INDICATIONS } from './indications.ts';

const kinds = (text: string) => findIdentifiers(text).map(({ what }) => what);

describe('free text of the clinical context', () => {
  it.each([
    ['seen 2026-03-12', 'a date'],
    ['seen 12.03.2026', 'a date'],
    ['seen 3/12/26', 'a date'],
    ['due in 03/2026', 'a date'],
    ['LMP 12 March', 'a date'],
    ['LMP 3rd of Feb', 'a date'],
    ['LMP March 12, 2026', 'a date'],
    ['scan Sept 2025', 'a date'],
    ['ask jane.roe@example.org', 'an e-mail address'],
    ['call +49 170 1234567', 'a phone number'],
    ['call 030 123 4567', 'a phone number'],
    ['call (617) 555-0123', 'a phone number'],
    ['call 01 23 45 67 89', 'a phone number'],
    ['call (030) 12 34 56', 'a phone number'],
    [`ask ${'j'.repeat(64)}@example.org`, 'an e-mail address'],
    [`ask ${'j'.repeat(65)}@example.org`, 'an e-mail address'],
    [`ask jane@${'clinic.'.repeat(34)}example.org`, 'an e-mail address'],
    ['MRN 123456', 'an identifying number'],
    ['hospital no. 4711', 'an identifying number'],
    ['NHS 943 476 5919', 'an identifying number'],
    ['PID: 88', 'an identifying number'],
    ['DOB 1990', 'a date'],
    ['Mrs Roe, size less than dates', 'a name'],
    ['mrs Roe', 'a name'],
    ['Mr SMITHSON', 'a name'],
    ['referred by Dr. A. Miller', 'a name'],
    ["Prof. O'Neill asks for Doppler", 'a name'],
    ['Frau Müller', 'a name'],
    ['Patient: Jane Roe', 'a name'],
    ["patient's name: Roe", 'a name'],
    ['name: roe', 'a name'],
    ['Baby of Roe', 'a name'],
    ['b/o Roe', 'a name'],
    ['née Roe', 'a name'],
    ['Roe^Jane', 'a name'],
    ['case A1234567B', 'a number of six or more digits'],
    ['seen 2026\u201103\u201112, with hyphens that do not break', 'a date'],
    ['seen 12\u00a0March, with a space that does not break', 'a date'],
    ['seen ２０２６-０３-１２, in full-width digits', 'a date'],
    ['case ١٢٣٤٥٦, in Arabic digits', 'a number of six or more digits'],
    ['case 123\u200b456, with a space of no width', 'a number of six or more digits'],
  ])('%s: contains %s', (text, what) => {
    expect(kinds(text)).toContain(what);
  });

  it.each([
    'size less than dates at 20+3 weeks',
    '20 weeks + 0 days, BPD 47 mm, HC 172 mm, EFW 1850 g',
    'BP 120/80, pulse 95',
    'G2 P1, previous caesarean 2019',
    'HC/AC 1.12, EF 55 %, TR 2.8 m/s',
    'EFW 12345 g is not plausible',
    'may have oligohydramnios',
    'body surface 1.85 m², effusion ½ of the circumference – small',
    '',
  ])('%s: passes', (text) => {
    expect(findIdentifiers(text)).toEqual([]);
  });

  it.each(INDICATIONS)('%s: passes', (text) => {
    expect(findIdentifiers(text)).toEqual([]);
  });

  it('is refused with the words that were found', () => {
    const found = findIdentifiers('Mrs Roe, born 12.03.1990, LMP 3 May, Dr Miller');
    expect(namedIdentifiers(found)).toBe(
      'a date ("12.03.1990", "3 May") and a name ("Mrs Roe", "Dr Miller")',
    );
  });

  it('may mention colleagues of a clinician, but no patient', () => {
    const found = findIdentifiers('Discussed with Dr Miller; the mother is Mrs Roe', true);
    expect(found).toEqual([{ what: 'a name', words: ['Mrs Roe'] }]);
  });

  it('has at most five words of a kind repeated in the error, with at most 60 characters each', () => {
    const found = findIdentifiers(`${'12.03.1990 '.repeat(6)} ${'j'.repeat(64)}@example.org`);
    const said = namedIdentifiers(found);
    expect(said.match(/12\.03\.1990/g)).toHaveLength(5);
    expect(said).toContain(', …');
    expect(said).toContain(`"${'j'.repeat(60)}"`);
  });

  it('has a date reported as a date, and nothing else', () => {
    expect(kinds('born 12.03.1990')).toEqual(['a date']);
    expect(kinds('born 12.03.1990, call 030 123 4567')).toEqual(['a date', 'a phone number']);
  });

  it('may contain five digits but not six', () => {
    expect(findIdentifiers('12345')).toEqual([]);
    expect(kinds('123456')).toEqual(['a number of six or more digits']);
  });

  it('has each kind reported once', () => {
    expect(kinds('2026-03-12 and 2026-03-13, 1234567')).toEqual([
      'a date',
      'a number of six or more digits',
    ]);
  });
});

describe('a text designed to be slow to check', () => {
  const times = (part: string, length: number) => part.repeat(Math.floor(length / part.length));

  /**
   * Measures the CPU time of this thread only, so that other load on the machine does not count.
   */
  const once = (text: string) => {
    const begun = process.threadCpuUsage();
    for (let run = 0; run < 20; run++) findIdentifiers(text);
    const { user, system } = process.threadCpuUsage(begun);
    return (user + system) / 1000;
  };
  /**
   * Returns the minimum of three measurements, because a garbage collection or a compilation
   * affects only one of them. The first that is `fastEnough` makes the others unnecessary.
   */
  const cpuMilliseconds = (text: string, fastEnough = 0) => {
    let least = Number.POSITIVE_INFINITY;
    for (let measured = 0; measured < 3 && least >= fastEnough; measured++)
      least = Math.min(least, once(text));
    return least;
  };

  it.each([
    ['digits of a phone number that never ends', (n: number) => `0${'1'.repeat(n - 2)}a`],
    ['many such numbers', (n: number) => times(`0${'1'.repeat(31)}a `, n)],
    ['the local part of an e-mail address without its @', (n: number) => 'a'.repeat(n)],
    ['a domain without its dot', (n: number) => `a@${'b'.repeat(n - 2)}`],
    ['many such addresses', (n: number) => times(`${'a'.repeat(64)}@${'b'.repeat(256)} `, n)],
    ['a day whose month never comes', (n: number) => `1${' '.repeat(n - 1)}`],
    ['brackets of area codes', (n: number) => '('.repeat(n)],
    ['titles without a name', (n: number) => times('Mrs ', n)],
    ['initials without a name', (n: number) => `Dr ${times('A. ', n)}`],
    ['a label and letters', (n: number) => `Name: ${'a'.repeat(n)}`],
    ['capitals after a title', (n: number) => `Mr ${'A'.repeat(n)}`],
  ])('%s: twice the length takes no more than about twice the time', (_what, text) => {
    const [half, whole] = [LONGEST_INDICATION, 2 * LONGEST_INDICATION];
    // Quadratic growth would be a factor of 4. Some texts take less than one tick of the system's
    // clock, hence the constant.
    const most = 3 * cpuMilliseconds(text(half)) + 20;
    expect(cpuMilliseconds(text(whole), most)).toBeLessThan(most);
  });
});
