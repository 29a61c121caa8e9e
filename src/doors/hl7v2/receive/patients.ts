import type {
  Demographics,
  PatientKey,
  PatientUpdate,
} from '../../../core/patients/corrections.ts';
import type { PatientMerge } from '../../../core/patients/merges.ts';
import { repetitionsOf, type Segment } from '../message.ts';
import { dayOf, isRemoved, statedText } from './header.ts';
import { contentError } from './refusal.ts';

/** Maximum length of a component group of a PN (PS3.5 6.2). */
const LONGEST_NAME = 64;
/** Maximum length of a patient ID (VR LO). */
const LONGEST_ID = 64;

/**
 * (0010,0040) for those values of table 0001 that DICOM has. The value "unknown" corrects nothing.
 */
const SEX: Readonly<Record<string, string>> = { F: 'F', M: 'M', O: 'O', A: 'O' };

/** An identifier (CX) with its assigning authority and type. */
interface Identifier extends PatientKey {
  type: string;
}

/**
 * Returns the identifiers of a patient in a field of type CX. @param own the authority of
 * identifiers that name none.
 */
export function identifiersIn(segment: Segment, field: number, own: string): Identifier[] {
  return repetitionsOf(segment, field).flatMap((repetition): Identifier[] => {
    const [id = ''] = repetition[0] ?? [];
    const [namespace = '', universal = ''] = repetition[3] ?? [];
    const authority = namespace.trim() || universal.trim() || own;
    const number = id.trim();
    if (number === '' || number === '""' || number.length > LONGEST_ID) return [];
    return [{ id: number, authority, unissued: authority === own, type: repetition[4]?.[0] ?? '' }];
  });
}

/**
 * Returns the identifier that images use: the one of our authority, or else a medical record
 * number, or else the first.
 */
export function mainIdentifier(identifiers: readonly Identifier[]): Identifier | undefined {
  return (
    identifiers.find(({ unissued }) => unissued) ??
    identifiers.find(({ type }) => type === 'MR' || type === 'PI') ??
    identifiers[0]
  );
}

export const sexOf = (pid: Segment): string => SEX[statedText(pid, 8)] ?? '';
export const birthDateOf = (pid: Segment): string => dayOf(statedText(pid, 7));

/** Name representations (table 4000) in the order of the component groups of a PN. */
const GROUPS = ['A', 'I', 'P'] as const;

/**
 * Converts a name (XPN) to PN: the prefix comes before the suffix, and ideographic and phonetic
 * representations become component groups. @throws Hl7Refusal for a name that is too long.
 */
export function personName(pid: Segment, field = 5): string {
  const names = repetitionsOf(pid, field).map((repetition) => {
    const part = (at: number) =>
      (repetition[at - 1]?.[0] ?? '').replaceAll(/[\\^=\p{Cc}]/gu, ' ').trim();
    const [family, given, middle, suffix, prefix] = [1, 2, 3, 4, 5].map(part);
    const written = [family, given, middle, prefix, suffix].join('^').replace(/\^+$/, '');
    return {
      written: written === '""' ? '' : written,
      type: part(7),
      representation: part(8) || 'A',
    };
  });
  const legal = names.filter(({ type }) => type === '' || type === 'L');
  const usable = legal.length > 0 ? legal : names;
  const groups = GROUPS.map(
    (group) => usable.find(({ representation }) => representation === group)?.written ?? '',
  );
  if (groups.some(({ length }) => length > LONGEST_NAME)) {
    throw contentError(102, { segment: 'PID', field }, 'A name has more than 64 characters.');
  }
  return groups.join('=').replace(/=+$/, '');
}

/** Returns the attributes of a patient in PID. Absent attributes are omitted. */
function demographicsIn(pid: Segment): Demographics {
  const name = personName(pid);
  const birthDate = birthDateOf(pid);
  const sex = sexOf(pid);
  return {
    ...(name !== '' && { PatientName: name }),
    ...((birthDate !== '' || isRemoved(pid, 7)) && { PatientBirthDate: birthDate }),
    ...((sex !== '' || isRemoved(pid, 8)) && { PatientSex: sex }),
  };
}

function requirePatient(pid: Segment, own: string): Identifier[] {
  const identifiers = identifiersIn(pid, 3, own);
  if (identifiers.length > 0) return identifiers;
  throw contentError(101, { segment: 'PID', sequence: 1, field: 3 }, 'PID-3 has no identifier.');
}

const keyOf = ({ id, authority, unissued }: Identifier): PatientKey => ({
  id,
  authority,
  unissued,
});

/** Returns the patient update in an ADT^A08. @throws Hl7Refusal */
export function updateIn(segments: readonly Segment[], own: string): PatientUpdate {
  const pid = segments.find(({ name }) => name === 'PID');
  if (!pid) throw contentError(100, { segment: 'PID' }, 'The message has no PID.');
  return { patients: requirePatient(pid, own).map(keyOf), stated: demographicsIn(pid) };
}

/**
 * Returns the merges in an ADT^A40: each prior identifier of MRG-1 with the identifier of the same
 * authority in PID-3. Patients of two authorities are never merged. @throws Hl7Refusal
 */
export function mergesIn(segments: readonly Segment[], own: string): PatientMerge[] {
  const merges: PatientMerge[] = [];
  let pid: Segment | null = null;
  for (const segment of segments) {
    if (segment.name === 'PID') pid = segment;
    if (segment.name !== 'MRG') continue;
    if (!pid) throw contentError(100, { segment: 'MRG' }, 'MRG comes without a PID before it.');
    merges.push(...mergesOf(pid, segment, own));
    pid = null;
  }
  if (merges.length === 0) throw contentError(100, { segment: 'MRG' }, 'The message has no MRG.');
  return merges;
}

function mergesOf(pid: Segment, mrg: Segment, own: string): PatientMerge[] {
  const survivors = requirePatient(pid, own);
  const stated = demographicsIn(pid);
  const place = { segment: 'MRG', sequence: 1, field: 1 };
  const priors = identifiersIn(mrg, 1, own);
  if (priors.length === 0) throw contentError(101, place, 'MRG-1 has no identifier.');
  return priors.map((prior) => {
    const same = survivors.filter(({ authority }) => authority === prior.authority);
    const survivor = same.find(({ type }) => type === prior.type) ?? same[0];
    if (!survivor) {
      const reason = 'PID-3 has no identifier of the assigning authority of MRG-1.';
      throw contentError(204, place, reason);
    }
    if (survivor.id === prior.id) {
      throw contentError(204, place, 'Prior and surviving identifier are the same.');
    }
    return { prior: keyOf(prior), survivorId: survivor.id, stated };
  });
}
