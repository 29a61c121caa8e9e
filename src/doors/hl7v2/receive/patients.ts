import type { Hl7v2Listener } from '../../../../config/hl7v2.ts';
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
 * Patient's Sex (0010,0040) for the values of table 0001. "Unknown" and "not applicable" are
 * omitted, because they would correct nothing.
 */
const SEX: Readonly<Record<string, string>> = { F: 'F', M: 'M', O: 'O', A: 'O' };

interface Identifier extends PatientKey {
  type: string;
}

/** The settings that determine which identifiers are patient IDs. */
export type PatientIdSettings = Pick<Hl7v2Listener, 'assigningAuthority' | 'patientIdTypes'>;

/**
 * Returns the patient IDs in a field of type CX, the most important type first. Account numbers,
 * visit numbers and other types (table 0203) are left out, because such a number may equal another
 * patient's ID.
 */
function patientIdsIn(
  segment: Segment,
  field: number,
  { assigningAuthority: own = '', patientIdTypes }: PatientIdSettings,
): Identifier[] {
  const rank = ({ type }: Identifier) =>
    type === '' ? patientIdTypes.length : patientIdTypes.indexOf(type);
  return repetitionsOf(segment, field)
    .flatMap((repetition): Identifier[] => {
      const part = (component: number, sub = 1) =>
        (repetition[component - 1]?.[sub - 1] ?? '').trim();
      const id = part(1);
      const authority = part(4) || part(4, 2) || own;
      if (id === '' || id === '""' || id.length > LONGEST_ID) return [];
      return [{ id, authority, unissued: authority === own, type: part(5) }];
    })
    .filter((one) => rank(one) >= 0)
    .toSorted((one, other) => rank(one) - rank(other));
}

/**
 * Keeps, for each assigning authority, only the values whose identifier has the same type as that
 * of the first value, which is the most important type. If the first identifier has no type, only
 * its value is kept, because other identifiers without a type might not be patient IDs.
 */
function ofMainType<Value>(
  values: readonly Value[],
  identifierOf: (value: Value) => Identifier,
): Value[] {
  const groups = Map.groupBy(values, (value) => identifierOf(value).authority);
  return [...groups.values()].flatMap(([first, ...others]) => {
    if (first === undefined) return [];
    const { type } = identifierOf(first);
    return [first, ...others.filter((one) => type !== '' && identifierOf(one).type === type)];
  });
}

/**
 * Returns the patient IDs in PID-3, the most important type first.
 * @throws Hl7Refusal
 */
function requirePatientIds(
  pid: Segment,
  settings: PatientIdSettings,
): [Identifier, ...Identifier[]] {
  const [first, ...further] = patientIdsIn(pid, 3, settings);
  if (first) return [first, ...further];
  const place = { segment: 'PID', sequence: 1, field: 3 };
  const types = settings.patientIdTypes.join(', ');
  throw contentError(101, place, `PID-3 has no patient ID (type ${types}, or no type).`);
}

/**
 * Returns the patient ID that images use: the one from our own authority, otherwise the first.
 * @throws Hl7Refusal
 */
export function mainPatientId(pid: Segment, settings: PatientIdSettings): PatientKey {
  const identifiers = requirePatientIds(pid, settings);
  return identifiers.find(({ unissued }) => unissued) ?? identifiers[0];
}

export const sexOf = (pid: Segment): string => SEX[statedText(pid, 8)] ?? '';
export const birthDateOf = (pid: Segment): string => dayOf(statedText(pid, 7));

/** PID-5, Patient Name. */
const NAME = 5;
/** Name representations (table 4000), in the order of the component groups of a PN. */
const GROUPS = ['A', 'I', 'P'] as const;

/**
 * Converts a name (XPN) to PN: the prefix comes before the suffix, and ideographic and phonetic
 * representations become component groups.
 * @throws Hl7Refusal for a name that is too long.
 */
function personName(pid: Segment): string {
  const names = repetitionsOf(pid, NAME).map((repetition) => {
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
    throw contentError(102, { segment: 'PID', field: NAME }, 'A name has more than 64 characters.');
  }
  return groups.join('=').replace(/=+$/, '');
}

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

const keyOf = ({ id, authority, unissued }: Identifier): PatientKey => ({
  id,
  authority,
  unissued,
});

/**
 * Returns the patient update in an ADT^A08.
 * @throws Hl7Refusal
 */
export function updateIn(segments: readonly Segment[], settings: PatientIdSettings): PatientUpdate {
  const pid = segments.find(({ name }) => name === 'PID');
  if (!pid) throw contentError(100, { segment: 'PID' }, 'The message has no PID.');
  const identifiers = requirePatientIds(pid, settings);
  const patients = ofMainType(identifiers, (identifier) => identifier).map(keyOf);
  return { patients, stated: demographicsIn(pid) };
}

/**
 * Returns the merges in an ADT^A40. For each authority, only IDs of one type are merged. A merge
 * combines a prior patient ID in MRG-1 with the ID of the same authority and type in PID-3, so
 * patients of different authorities are never merged.
 * @throws Hl7Refusal
 */
export function mergesIn(
  segments: readonly Segment[],
  settings: PatientIdSettings,
): PatientMerge[] {
  const merges: PatientMerge[] = [];
  let pid: Segment | null = null;
  for (const segment of segments) {
    if (segment.name === 'PID') pid = segment;
    if (segment.name !== 'MRG') continue;
    if (!pid) throw contentError(100, { segment: 'MRG' }, 'MRG comes without a PID before it.');
    merges.push(...mergesOf(pid, segment, settings));
    pid = null;
  }
  if (merges.length === 0) throw contentError(100, { segment: 'MRG' }, 'The message has no MRG.');
  return merges;
}

function mergesOf(pid: Segment, mrg: Segment, settings: PatientIdSettings): PatientMerge[] {
  const survivors = requirePatientIds(pid, settings);
  const stated = demographicsIn(pid);
  const place = { segment: 'MRG', sequence: 1, field: 1 };
  const priors = patientIdsIn(mrg, 1, settings);
  if (priors.length === 0) throw contentError(101, place, 'MRG-1 has no patient ID.');
  const pairs = priors.flatMap((prior) => {
    const survivor = survivorOf(prior, survivors);
    // If the surviving patient already has the prior ID, there is nothing to merge.
    return survivor && survivor.id !== prior.id ? [{ prior, survivor }] : [];
  });
  const merges = ofMainType(pairs, ({ prior }) => prior).map(({ prior, survivor }) => ({
    prior: keyOf(prior),
    survivorId: survivor.id,
    stated,
  }));
  if (merges.length > 0) return merges;
  const reason =
    'No patient ID in PID-3 has the authority and type of one in MRG-1 and differs from it.';
  throw contentError(204, place, reason);
}

/**
 * Returns the identifier that replaces a prior one. It must have the same authority and type. If no
 * type matches, an identifier is used if its own type or that of the prior ID is missing. One equal to
 * the prior ID is preferred.
 */
function survivorOf(prior: Identifier, survivors: readonly Identifier[]): Identifier | undefined {
  const same = survivors.filter(({ authority }) => authority === prior.authority);
  const alike = same.filter(({ type }) => type === prior.type);
  const usable =
    alike.length > 0 ? alike : same.filter(({ type }) => type === '' || prior.type === '');
  return usable.find(({ id }) => id === prior.id) ?? usable[0];
}
