import { InvalidInputError } from '../../platform/errors/problem.ts';

/**
 * Searches free text for identifying text: in `clinical_context.indication` and in review notes.
 * The search catches accidental entries but cannot prove that a text is free of identifiers,
 * because a name without a title or label looks like a clinical term.
 */

const MONTH =
  '(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)';

/**
 * Words that can follow a title or label without being names: "Mr" and "Ms" also mean mitral
 * regurgitation and stenosis, and "Patient:" may be followed by findings.
 */
const NO_NAMES = [
  'Abdominal',
  'Abnormal',
  'Aged?',
  'Antenatal',
  'Anxious',
  'Asked',
  'Asymptomatic',
  'Bicuspid',
  'Bleeding',
  'Booked',
  'Breathless',
  'Caucasian',
  'Chest',
  'Consanguineous',
  'Control',
  'Diabetic',
  'Due',
  'Female',
  'Follow',
  'For',
  'Gestational',
  'Grade',
  'Growth',
  'Healthy',
  'High',
  'History',
  'Hypertensive',
  'In',
  'Jet',
  'Known',
  'Late',
  'Low',
  'Male',
  'Mild',
  'Moderate',
  'Multiparous',
  'New',
  'No',
  'Not',
  'Nulliparous',
  'Obese',
  'On',
  'Pain',
  'Pregnant',
  'Previous',
  'Primigravida',
  'Raised',
  'Recent',
  'Recommends',
  'Reduced',
  'Referral',
  'Referred',
  'Request(?:s|ed)?',
  'Routine',
  'See',
  'Severe',
  'Shortness',
  'Stable',
  'Status',
  'Suspected',
  'Symptomatic',
  'Third',
  'Trivial',
  'Twins?',
  'Type',
  'Unknown',
  'Unwell',
  'Very',
  'Wants',
  'Well',
  'With',
  'Young',
].join('|');

/**
 * A word that may be a name: `Roe`, `O'Neill`, `SMITH`. A word of at most four capitals is regarded
 * as an abbreviation.
 */
const NAME = `(?!(?:${NO_NAMES})(?![\\p{L}]))(?!\\p{Lu}{1,4}(?![\\p{L}'’-]))\\p{Lu}[\\p{L}'’-]{1,40}(?![\\p{L}])`;

/** One or two names: `Roe`, `J. Roe`, `Jane Roe`, `Roe, Jane`. */
const NAMES = `(?:\\p{Lu}\\.\\s?){0,3}${NAME}(?:,?\\s{1,2}${NAME})?`;

/** Words that introduce a person: "patient: …", "baby of …". */
const LABELS = 'patient|pt|mother|father|baby|husband|partner';
const RELATIONS = 'baby|son|daughter|child|infant|wife|boy|girl|twins?';

/**
 * Patterns of identifying text. They do not match a sonographer's usual text: "20+3 weeks", "BP
 * 120/80", "G2 P1", "EFW 1.850 g", "Turner syndrome", "severe MR". Every repetition that could be
 * split in more than one way is bounded, which keeps the time linear in the length of the text. A
 * local part is limited to 64 characters, and a domain to 255 (RFC 5321 4.5.3.1).
 */
const PATTERNS: readonly { what: string; pattern: RegExp; staff?: true }[] = [
  { what: 'a date', pattern: /\b\d{1,4}([./-])\d{1,2}\1\d{1,4}\b/g },
  { what: 'a date', pattern: /\b(?:0?[1-9]|1[0-2])[./-](?:19|20)\d{2}\b/g },
  {
    what: 'a date',
    pattern: new RegExp(`\\b\\d{1,2}(?:st|nd|rd|th)?\\.?[\\s-]+(?:of\\s+)?${MONTH}\\b`, 'gi'),
  },
  { what: 'a date', pattern: new RegExp(`\\b${MONTH}\\.?[\\s-]+\\d{1,4}\\b`, 'gi') },
  { what: 'a date', pattern: /\b(?:DOB|date of birth)\b[\s:=]{0,4}(?:19|20)\d{2}\b/gi },
  { what: 'an e-mail address', pattern: /[^\s@]{1,64}@[^\s@]{1,255}\.[^\s@]{1,63}/g },
  {
    what: 'an identifying number',
    pattern:
      /\b(?:MRN|NHS(?: n(?:o|umber))?|SSN|(?:hospital|patient|case|accession) (?:id|n(?:o|umber))|(?:PID|ID)(?=\s?[:#]))\b[.:#=\s]{0,4}(?:[A-Z]{1,3}[-\s]?)?\d{2,}(?:[\s-]\d{1,6}){0,4}/gi,
  },
  { what: 'a phone number', pattern: /(?:\+|\b00)\d(?:[\s().-]?\d){6,}/g },
  { what: 'a phone number', pattern: /\(?\b0\d{1,4}\)?[\s./-]?\d{2,4}(?:[\s.-]?\d{2,4}){1,6}\b/g },
  { what: 'a phone number', pattern: /\(?\b\d{3}\)?[\s.-]\d{3}[\s.-]\d{4}\b/g },
  { what: 'a number of six or more digits', pattern: /\d{6,}/g },
  // A DICOM Person Name (PS3.5 6.2.1).
  { what: 'a name', pattern: /\p{L}{2,64}\^\p{L}{1,64}/gu },
  {
    what: 'a name',
    pattern: new RegExp(
      `\\b(?:Mr|Mrs|mrs|Ms|Mx|Miss|Herr|Frau|Mme|Madame|Monsieur|Señora?|Signora)\\.?\\s{1,2}${NAMES}`,
      'gu',
    ),
  },
  {
    what: 'a name',
    pattern: new RegExp(`\\b(?:Dr|Prof|Professor)\\.?\\s{1,2}${NAMES}`, 'gu'),
    staff: true,
  },
  {
    what: 'a name',
    pattern: new RegExp(`\\b(?i:(?:${LABELS})(?:'s name)?)\\s?[:=]\\s{0,2}${NAMES}`, 'gu'),
  },
  {
    what: 'a name',
    pattern:
      /\b(?:first |last |sur|fore|family )?name\s?[:=]\s{0,2}\p{L}[\p{L}'’-]{1,40}(?:,?\s\p{L}[\p{L}'’-]{1,40})?/giu,
  },
  { what: 'a name', pattern: new RegExp(`\\b(?i:(?:${RELATIONS}) of|b/o|n[ée]e) ${NAMES}`, 'gu') },
];

/**
 * Rewrites a text in the characters that the patterns name. Word processors and keyboards of other
 * scripts write digits, hyphens and spaces that look the same but have other codes: `２０２６‑０３‑１２`.
 * Characters without a width, which could divide a number, are left out.
 */
function plain(text: string): string {
  return text
    .normalize('NFKC')
    .replace(/\p{Cf}/gu, '')
    .replace(/[\p{Pd}\u2212]/gu, '-')
    .replace(/(?![0-9])\p{Nd}/gu, (digit) => String(digitValue(digit)));
}

/** Unicode encodes the digits 0 to 9 of a script in ascending order (Unicode 4.6). */
function digitValue(digit: string): number {
  const code = digit.codePointAt(0) ?? 0;
  let zero = code;
  while (code - zero < 9 && /\p{Nd}/u.test(String.fromCodePoint(zero - 1))) zero -= 1;
  return code - zero;
}

interface FoundIdentifier {
  what: string;
  words: string[];
}

/**
 * Returns the identifying text found, grouped by kind. Text recognised as one kind is not reported
 * as another: `12.03.1990` is not a phone number.
 * @param mayNameStaff true if the text may contain names of colleagues, as a report does: "seen
 * with Dr Roe".
 */
export function findIdentifiers(text: string, mayNameStaff = false): FoundIdentifier[] {
  const found = new Map<string, string[]>();
  let rest = plain(text);
  for (const { what, pattern, staff } of PATTERNS) {
    if (staff && mayNameStaff) continue;
    rest = rest.replace(pattern, (words) => {
      found.set(what, [...(found.get(what) ?? []), words.trim()]);
      return ' ';
    });
  }
  return [...found].map(([what, words]) => ({ what, words }));
}

/** Limits on the words repeated in an error message. */
const SHOWN = { characters: 60, words: 5 } as const;

/**
 * Lists the identifying text for the caller who sent it:
 * `a date ("12.03.1990") and a name ("Mrs Roe")`.
 */
export function namedIdentifiers(found: readonly FoundIdentifier[]): string {
  return found
    .map(({ what, words }) => {
      const shown = words
        .slice(0, SHOWN.words)
        .map((each) => `"${each.slice(0, SHOWN.characters)}"`);
      return `${what} (${shown.join(', ')}${words.length > shown.length ? ', …' : ''})`;
    })
    .join(' and ');
}

/**
 * Refuses a text that identifies a person. Staff may be named unless `mayNameStaff` is false.
 * @param pointer RFC 6901 pointer to the text, for the error.
 * @throws InvalidInputError
 */
export function requireNoIdentifiers(
  text: string,
  pointer: string,
  { mayNameStaff = true, code }: { mayNameStaff?: boolean; code?: 'identifiers_in_context' } = {},
): void {
  const found = findIdentifiers(text, mayNameStaff);
  if (found.length === 0) return;
  const detail = `The text contains ${namedIdentifiers(found)}; leave out names, identifiers and dates.`;
  throw new InvalidInputError([{ pointer, detail }], code);
}
