import { specialtyOf } from '../../concepts/specialty.ts';
import type { Finding, Measurement, Result, Section } from '../envelope.ts';
import type { ImpressionLine } from '../impression.ts';
import { isAssessed } from '../section-outcome.ts';
import { distinctStatements, type Statement } from '../statement.ts';
import { byId, renderStatement, renderStatements } from './render.ts';
import { RESEARCH_NOTICE } from './shared.ts';
import { counted, sentence } from './unit-text.ts';

/** Texts and lines shared by the draft reports of all endpoints. */

export const NOTHING_CONCLUDED = 'No conclusion can be drawn from what was assessed.';
export const NOTHING_ACCEPTED = 'No measurement was accepted.';
type Report = NonNullable<Result['report']>;
const DRAFT = 'Computer-assisted draft; to be verified by the reporting clinician.';

/** Printed if files of an earlier examination were given, because no echo section reads them. */
const NOT_COMPARED = 'The earlier examination was not compared with this one.';

export const isEcho = ({ endpoint }: Pick<Result, 'endpoint'>): boolean =>
  specialtyOf(endpoint) === 'echo';

/** Returns the name of the examination, for titles. */
export const examinationName = (result: Pick<Result, 'endpoint'>): string =>
  isEcho(result) ? 'Echocardiography' : 'Obstetric ultrasound';

/** Returns the line stating how many images were read. */
export function imagesLine({
  input_summary: { files, frames, calibrated_frames },
}: Result): string {
  return `Images: ${counted(frames, 'frame')} of ${counted(files, 'file')}, ${calibrated_frames} with a physical scale.`;
}

/**
 * Returns the line explaining why a section was not assessed, or only in part; null if the section
 * has no reason.
 */
export function gapLine({ title, reason }: Pick<Section, 'title' | 'reason'>): string | null {
  return reason && `${title}: ${sentence(reason.detail)}`;
}

/**
 * Codes of statements about the patient rather than about one section: missing data, and
 * consequences of the age. Many sections include them.
 */
const OF_PATIENT: ReadonlySet<string> = new Set([
  'echo.sex-unknown',
  'echo.surface-unknown',
  'echo.child',
]);

/** Returns the gaps about the patient that more than one assessed section states. */
function sharedGaps(sections: readonly Section[]): Statement[] {
  const ofPatient = sections
    .filter(isAssessed)
    .flatMap(({ reason }) => distinctStatements(reason?.gaps ?? []))
    .filter(({ code }) => OF_PATIENT.has(code));
  const isShared = ({ code }: Statement) =>
    ofPatient.filter((other) => other.code === code).length > 1;
  return distinctStatements(ofPatient).filter(isShared);
}

/**
 * Codes of gaps about an undecided category, each with the code of the statement in the impression
 * that states the gap in full. Such a gap is not repeated as a limitation.
 */
const IN_IMPRESSION: Readonly<Record<string, string>> = {
  'growth.at-cut-off': 'impression.size-open',
  'fluid.at-cut-off': 'impression.fluid-open',
};

/** A limitation of a section: its title, and a sentence. */
type OfSection = readonly [title: string, text: string];

/**
 * Returns one line for each section that was not assessed, was assessed only in part, or has further
 * limitations (`more`). A gap about the patient that several assessed sections have is not part of
 * their lines; it follows as a line without a section title. Gaps that the impression states are
 * left out.
 */
export function gapLines(
  { sections, measurements }: Pick<Result, 'sections' | 'measurements'>,
  impression: readonly Statement[] = [],
  more: readonly OfSection[] = [],
): string[] {
  const found = byId(measurements);
  const shared = sharedGaps(sections);
  const isElsewhere = ({ code, fetus }: Statement) =>
    shared.some((other) => other.code === code) ||
    impression.some((one) => one.code === IN_IMPRESSION[code] && one.fetus === fetus);
  const gaps = sections.flatMap((section): OfSection[] => {
    const { title, reason } = section;
    if (!reason) return [];
    if (!reason.gaps?.some(isElsewhere) || !isAssessed(section)) return [[title, reason.detail]];
    const left = reason.gaps.filter((gap) => !isElsewhere(gap));
    return left.length > 0 ? [[title, renderStatements(left, found)]] : [];
  });
  const byTitle = Map.groupBy([...gaps, ...more], ([title]) => title);
  return [
    ...[...byTitle].map(([title, own]) => {
      const texts = new Set(own.map(([, text]) => sentence(text)));
      return `${title}: ${[...texts].join(' ')}`;
    }),
    ...shared.map((gap) => renderStatement(gap, found)),
  ];
}

/**
 * Returns the lines about files that could not be read, or could be read only with changes: one
 * line for each reason, with the number of files. The file names are left out. The result contains
 * them anyway, and the names that the gateway assigns to files received by DICOM mean nothing to a
 * reader.
 */
export function refusedLines(refused: Result['input_summary']['refused']): string[] {
  const byReason = Map.groupBy(refused, ({ reason }) => reason);
  return [...byReason].map(([reason, files]) => {
    const subject = files.length === 1 ? 'One file was' : `${files.length} files were`;
    return `${subject} ${files[0]?.read ? '' : 'not read: '}${sentence(reason)}`;
  });
}

/**
 * Returns true if a finding describes the files rather than the patient. Such a finding is a
 * limitation of the whole report.
 */
export const isOfFiles = ({ id }: Pick<Finding, 'id'>): boolean => id === 'several-studies';

/**
 * Limitation that is printed if a scale comes from the request. The person who entered the scale is
 * responsible for every length on these images.
 */
const SCALE_OF_REQUEST =
  'Images without a stated scale were measured with the scale given in the request.';

/**
 * Returns the limitation for one scale used on images of several sizes, because an image of another
 * size or zoom usually has another scale.
 */
const oneScaleFor = (sizes: readonly string[]) =>
  `One scale from the request was used for images of different sizes (${sizes.join(', ')} pixels): check that it applies to each.`;

/**
 * Returns the limitations due to the evidence accepted, scales from the request and refused files.
 */
function inputLimitations({
  input_summary,
  evidence_accepted: accepts,
}: Pick<Result, 'input_summary' | 'evidence_accepted'>): string[] {
  const { refused, scale_from_request: scaleOfRequest, one_scale_for_sizes: sizes } = input_summary;
  return [
    ...(accepts === 'simulated' ? [`${RESEARCH_NOTICE}.`] : []),
    ...(scaleOfRequest ? [SCALE_OF_REQUEST] : []),
    ...(sizes ? [oneScaleFor(sizes)] : []),
    ...refusedLines(refused),
  ];
}

/** Returns true if a section lists the statement as a gap, which is a limitation of the report. */
const isGapOf = ({ reason }: Section, { code, fetus }: Statement): boolean =>
  reason?.gaps?.some((gap) => gap.code === code && gap.fetus === fetus) ?? false;

/**
 * Returns the line with what a section found; empty if there is nothing. Gaps and conditions are
 * left out, because the limitations state them.
 */
export function findingLine(section: Section, measurements: readonly Measurement[]): string[] {
  const { title, statements = [] } = section;
  const found = statements.filter((one) => one.kind !== 'limitation' && !isGapOf(section, one));
  return found.length > 0 ? [`${title}: ${renderStatements(found, byId(measurements))}`] : [];
}

/**
 * Returns the conditions under which the conclusions of assessed sections are valid. One that the
 * section also lists as a gap is not repeated.
 */
function conditionsOf({ sections, measurements }: Result): OfSection[] {
  const known = byId(measurements);
  return sections
    .filter(isAssessed)
    .flatMap((section) =>
      (section.statements ?? [])
        .filter((one) => one.kind === 'limitation' && !isGapOf(section, one))
        .map((one): OfSection => [section.title, renderStatement(one, known)]),
    );
}

/**
 * Returns each limitation once: for each section, what was not assessed and the conditions of its
 * conclusions; then those of the input and, unless the result is signed, the notice that the report
 * is a draft. What the impression states is not repeated.
 */
export function limitationsOf(
  result: Result,
  impression: readonly ImpressionLine[] = [],
): string[] {
  const stated = impression.flatMap(({ statements }) => statements);
  const lines = [
    ...(isEcho(result) && result.input_summary.priors ? [NOT_COMPARED] : []),
    ...result.findings.filter(isOfFiles).map(({ text }) => text),
    ...gapLines(result, stated, conditionsOf(result)),
    ...inputLimitations(result),
    ...(result.draft ? [DRAFT] : []),
  ];
  return [...new Set(lines)];
}

/** Returns the parts of a report that differ between a draft and a signed result. */
export const titleAndLimitations = (
  result: Result,
  impression?: readonly ImpressionLine[],
): Pick<Report, 'title' | 'limitations'> => ({
  title: `${examinationName(result)}${result.draft ? ': draft report' : ' report'}`,
  limitations: limitationsOf(result, impression),
});
