const MONTH =
  '(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)';

/**
 * What free text of the clinical context must not hold. Written so that what a sonographer writes
 * passes: "20+3 weeks", "BP 120/80", "G2 P1", "EFW 1.850 g". Each repeat that could be split in more
 * than one way is bounded, so that the time grows with the length of the text and no faster: a local
 * part has at most 64 characters and a domain 255 (RFC 5321 4.5.3.1).
 */
const PATTERNS: readonly { what: string; pattern: RegExp }[] = [
  { what: 'a date', pattern: /\b\d{1,4}([./-])\d{1,2}\1\d{1,4}\b/g },
  { what: 'a date', pattern: /\b(?:0?[1-9]|1[0-2])[./-](?:19|20)\d{2}\b/g },
  {
    what: 'a date',
    pattern: new RegExp(`\\b\\d{1,2}(?:st|nd|rd|th)?\\.?[\\s-]+(?:of\\s+)?${MONTH}\\b`, 'gi'),
  },
  { what: 'a date', pattern: new RegExp(`\\b${MONTH}\\.?[\\s-]+\\d{1,4}\\b`, 'gi') },
  { what: 'an e-mail address', pattern: /[^\s@]{1,64}@[^\s@]{1,255}\.[^\s@]{1,63}/g },
  { what: 'a phone number', pattern: /(?:\+|\b00)\d(?:[\s().-]?\d){6,}/g },
  { what: 'a phone number', pattern: /\(?\b0\d{1,4}\)?[\s./-]?\d{2,4}(?:[\s.-]?\d{2,4}){1,6}\b/g },
  { what: 'a phone number', pattern: /\(?\b\d{3}\)?[\s.-]\d{3}[\s.-]\d{4}\b/g },
  { what: 'a number of six or more digits', pattern: /\d{6,}/g },
];

/**
 * What identifying the text holds, in words (`a date`), each once; empty when it holds none. What has
 * been read as one thing is not read as another: `12.03.1990` is no phone number.
 */
export function findIdentifiers(text: string): string[] {
  const found = new Set<string>();
  let rest = text;
  for (const { what, pattern } of PATTERNS) {
    const left = rest.replace(pattern, ' ');
    if (left !== rest) found.add(what);
    rest = left;
  }
  return [...found];
}
