import { ECHO_CONCEPTS, type EchoConcept } from '../../../concepts/echo.ts';
import { rounded } from '../../../measure/rounding.ts';
import type { Measurement } from '../../envelope.ts';
import {
  categoriesOf,
  remarksOf,
  type ScaleTable,
  type SentenceTable,
  statementsOf,
} from '../../statement.ts';
import { allOf, anyOf, counted, listOfLabels, sentence, withUnit } from '../unit-text.ts';

export interface About {
  readonly about: readonly Measurement[];
}

/** Measurements that a sentence refers to, and how their remarks are rendered. */
interface WithNotes extends About {
  readonly text: { note(one: Measurement): string };
}

const ORDINALS: Readonly<Record<number, string>> = { 2: 'second', 3: 'third' };

/** Renders "every second" for 2 and "every 4th" for 4. */
export const everyNth = (n: number): string => `every ${ORDINALS[n] ?? `${n}th`}`;

/** Renders a value for the report: rounded (halves away from zero), with its unit. */
export function valueText(key: EchoConcept, value: number): string {
  const { decimals, unit } = ECHO_CONCEPTS[key];
  const number = rounded(value, decimals).toFixed(decimals);
  return withUnit(number, unit);
}

/** Renders a value with its name: "LVIDd 5.1 cm". */
export function namedText({ concept, value }: Pick<Measurement, 'concept' | 'value'>): string {
  const key = concept.key as EchoConcept;
  return `${ECHO_CONCEPTS[key].abbreviation} ${valueText(key, value)}`;
}

/** Renders a value with its full label, which says that its structure is unknown. */
const labelledText = ({ concept, label, value }: Measurement): string =>
  `${label} ${valueText(concept.key as EchoConcept, value)}`;

/** Renders values with their names: "LVIDd 5.1 cm, LVIDs 3.2 cm". */
export const allNamed = (measurements: readonly Measurement[]): string =>
  measurements.map(namedText).join(', ');

/**
 * Renders a category in the words of its table. A statement that an earlier version stored has the
 * words themselves, which are returned unchanged.
 */
export const inWords = (words: Readonly<Record<string, string>>, category: string): string =>
  words[category] ?? category;

/**
 * Returns the code of a category. A statement that an earlier version stored has the words of the
 * category instead.
 */
export const codeOf = <Code extends string>(
  words: Readonly<Record<Code, string>>,
  stored: string,
): Code | undefined =>
  (Object.keys(words) as Code[]).find((code) => code === stored || words[code] === stored);

/**
 * Bands of a quantity by its severity grades, in the published wording (ASE15). `abnormal` without
 * a severity is used if the sex is unknown and the severity differs between the sexes.
 */
export const ABNORMALITIES = {
  'below-range': 'below normal range',
  normal: 'normal',
  mild: 'mildly abnormal',
  moderate: 'moderately abnormal',
  severe: 'severely abnormal',
  abnormal: 'abnormal',
  'above-range': 'above normal range',
} as const;
export type Abnormality = keyof typeof ABNORMALITIES;
export const abnormalityText = (grade: Abnormality): string => inWords(ABNORMALITIES, grade);
export const abnormalityOf = (stored: string): Abnormality | undefined =>
  codeOf(ABNORMALITIES, stored);

/** Scales of several sections. */
export const ECHO_SCALES = {
  abnormality: abnormalityText,
} as const satisfies ScaleTable;

export const categoryOfEcho = categoriesOf<typeof ECHO_SCALES>();

/** LV geometry, in its published wording (ASE15; echo 5.4). */
const GEOMETRIES = {
  normal: 'normal geometry',
  'concentric-remodelling': 'concentric remodelling',
  'concentric-hypertrophy': 'concentric hypertrophy',
  'eccentric-hypertrophy': 'eccentric hypertrophy',
} as const;
export type Geometry = keyof typeof GEOMETRIES;
export const geometryText = (geometry: Geometry): string => inWords(GEOMETRIES, geometry);
export const isNormalGeometry = (geometry: Geometry): boolean =>
  codeOf(GEOMETRIES, geometry) === 'normal';

/** Sizes of an effusion by its greatest depth, smallest first (echo 13). */
export const EFFUSION_GRADES = ['none', 'small', 'moderate', 'large', 'very-large'] as const;
export type EffusionGrade = (typeof EFFUSION_GRADES)[number];
export const effusionText = (grade: EffusionGrade): string =>
  grade === 'very-large' ? 'very large' : grade;

/** Grades of mitral stenosis, in their published wording (VHD20; echo 11.5). */
export const MITRAL_STENOSIS_GRADES = {
  progressive: 'progressive (non-severe) MS',
  severe: 'severe MS',
  'very-severe': 'very severe MS',
} as const;
export type MitralStenosisGrade = keyof typeof MITRAL_STENOSIS_GRADES;

/** Grades of AR and MR, in their published wording (VR17; echo 11.2, 11.3). */
export const REGURGITATION_GRADES = {
  mild: 'grade I (mild)',
  moderate: 'grade II (moderate)',
  'moderate-to-severe': 'grade III (moderate-severe)',
  severe: 'grade IV (severe)',
  indeterminate: 'severity indeterminate',
  inconsistent: 'inconsistent, suggest CMR',
} as const;
export type RegurgitationGrade = keyof typeof REGURGITATION_GRADES;

/**
 * A value that suggests mitral stenosis but does not allow a grade: a mean gradient of at least
 * `gradient`, mmHg, or an area by half-time, cm², without such a gradient.
 */
export type SuspectedStenosis =
  | { kind: 'steep-gradient'; gradient: number }
  | { kind: 'small-area'; area: number; gradient: number };

/** Renders the suspicion: "a mitral mean gradient of at least 5 mmHg suggests stenosis". */
export const suspicionText = (suspected: SuspectedStenosis): string =>
  suspected.kind === 'steep-gradient'
    ? `a mitral mean gradient of at least ${suspected.gradient} mmHg suggests stenosis`
    : `a mitral valve area of ${valueText('mv-area-half-time', suspected.area)} by half-time suggests stenosis`;

const ORIGIN_TEXT = {
  image: 'from the images',
  machine: 'from the machine',
  request: 'from the request',
  person: 'entered by hand',
  corrected: 'calculated from a corrected value of the machine',
  'other-clip': 'from another A4C clip',
} as const satisfies Record<Measurement['origin'] | 'corrected' | 'other-clip', string>;

/** Remarks on how a value was obtained, which are never the reason why it was withheld. */
const DESCRIPTIONS: ReadonlySet<string> = new Set([
  'display.beats',
  'display.form',
  'echo.range-by-sex',
  'echo.range-unverified',
  'outlines.beats',
  'outlines.every-nth-frame',
  'outlines.irregular',
  'outlines.phases-by-area',
  'strain.by-least-volume',
]);

/**
 * Renders which values were withheld, and why. A reason shared by several values is printed once.
 */
function withheldText(withheld: readonly Measurement[], text: WithNotes['text']): string {
  const byReason = Map.groupBy(withheld, (one) => {
    const remarks = one.remarks.filter(({ code }) => !DESCRIPTIONS.has(code));
    return text.note({ ...one, remarks }) || one.note;
  });
  const each = [...byReason].map(([reason, values]) => {
    const labels = [...new Set(values.map(({ label }) => label))];
    return sentence(
      `${listOfLabels(labels)} ${labels.length > 1 ? 'were' : 'was'} withheld: ${reason}`,
    );
  });
  return each.join(' ');
}

/**
 * Renders why no clip of the wanted views was measured: the study contains no such clip, or no clip
 * was recognised as one.
 */
function noClipText(of: {
  views: readonly string[];
  unnamed: number;
  perhaps: number;
  unseparated: number;
}): string {
  const wanted = anyOf(of.views);
  if (of.unnamed === 0) return `Not assessed: no ${wanted} clip was found.`;
  const details = [
    of.perhaps > 0 ? `${of.perhaps} may show ${wanted}` : null,
    of.unseparated > 0
      ? `in ${of.unseparated} the picture fills the whole frame or could not be distinguished from the rest of the screen`
      : null,
  ].filter((one) => one !== null);
  const more = details.length > 0 ? ` (${details.join('; ')})` : '';
  return `Not assessed: no clip was reliably recognised as ${wanted}, and the view of ${counted(of.unnamed, 'clip')} is unknown${more}.`;
}

/** Renders a value with its 95 % interval, without its name: "58 ± 13 %". */
export function intervalText({ concept, value, uncertainty }: Measurement): string {
  const { decimals, unit } = ECHO_CONCEPTS[concept.key as EchoConcept];
  const number = (of: number) => rounded(of, decimals).toFixed(decimals);
  const margin = uncertainty === null ? '' : ` ± ${number(uncertainty)}`;
  return withUnit(`${number(value)}${margin}`, unit);
}

/** Renders a value with its 95 % interval: "LVEF 58 ± 13 %". */
const withIntervalText = (one: Measurement): string =>
  `${ECHO_CONCEPTS[one.concept.key as EchoConcept].abbreviation} ${intervalText(one)}`;

const GRADES: readonly (Abnormality | undefined)[] = ['normal', 'mild', 'moderate', 'severe'];

/**
 * Renders the grades that a value may have: "mildly to severely abnormal", or "normal or mildly
 * abnormal" if there are only two and one is normal.
 * @param wording returns the text of a grade. The texts of all abnormal grades must end with the
 * same word.
 * @param bandOf returns the band of a grade; undefined for a category that is no such grade.
 */
export function gradesText<Grade extends string>(
  grades: readonly Grade[],
  wording: (grade: Grade) => string,
  bandOf: (grade: Grade) => Abnormality | undefined = abnormalityOf,
): string {
  const rank = (grade: Grade) => {
    const at = GRADES.indexOf(bandOf(grade));
    return at < 0 ? GRADES.length : at;
  };
  const inOrder = grades.toSorted((one, other) => rank(one) - rank(other));
  const [first, second] = inOrder;
  const last = inOrder.at(-1);
  const isRange = inOrder.every((one) => rank(one) < GRADES.length);
  const isOneStep = inOrder.length === 2 && first !== undefined && rank(first) === 0;
  if (!first || !last || !second || !isRange || isOneStep) return anyOf(inOrder.map(wording));
  // "mildly enlarged" and "severely enlarged" become "mildly to severely enlarged".
  const [, manner, what] = /^(.*) (\w+)$/.exec(wording(first)) ?? [];
  const from = wording(last).endsWith(` ${what}`) ? manner : wording(first);
  return `${from} to ${wording(last)}`;
}

export const withIntervals = (about: readonly Measurement[]) =>
  about.map(withIntervalText).join(', ');

/** Renders the interval of a value that the same line already states: "LVIDd (± 0.1 cm)". */
export function intervalOnly({ concept, uncertainty }: Measurement): string {
  const key = concept.key as EchoConcept;
  const margin = uncertainty === null ? '' : ` (± ${valueText(key, uncertainty)})`;
  return `${ECHO_CONCEPTS[key].abbreviation}${margin}`;
}

/** Sentences that every section may use. */
export const ECHO_SENTENCES = {
  'echo.values': (_: Record<string, never>, { about }: About) => sentence(allNamed(about)),
  'echo.of-unknown-structure': (_: Record<string, never>, { about }: About) =>
    `Confirmed by the reader: ${allOf(about.map(labelledText))}; nothing is concluded, as the structure is unknown.`,
  'echo.withheld': (_: Record<string, never>, { about, text }: WithNotes) =>
    withheldText(about, text),
  'echo.either-side': (_: Record<string, never>, { about }: About) =>
    `${withIntervals(about)}: normal or abnormal, because a cut-off is within the 95 % interval; to be measured by hand.`,
  'echo.answer-open': (_: Record<string, never>, { about }: About) =>
    `${withIntervals(about)}: the answer is uncertain, because a cut-off is within the 95 % interval; to be measured by hand.`,
  'echo.no-value': () => 'No value for this section was supplied.',
  'echo.surface-unknown': () =>
    'Indexed values are not reported: height and weight are missing or implausible.',
  'echo.sex-unknown': () =>
    'The sex of the patient is unknown: only grades that hold for both sexes are given.',
  'echo.child': () =>
    'Adult reference ranges do not apply under 18 years or, if the age is unknown, to the body size of a child; z-scores are not computed.',
  'echo.age-unknown': () => 'The age of the patient is unknown: the limits of adults were used.',
  'echo.focused-study': () => 'Focused study, not a comprehensive echocardiogram.',
  'outlines.reader-failed': () =>
    'The apical clips could not be analysed because of an internal error.',
  'outlines.no-model': () => 'No permitted model outlines the cardiac chambers.',
  'outlines.no-clip': noClipText,
  'outlines.no-beat': ({ views }: { views: readonly string[] }) =>
    `The ${anyOf(views)} clips show no complete beat with reliable outlines.`,
  'outlines.view-disputed': ({ named }: { named: string; seen: string }) =>
    `Not measured: the header names a clip ${named}, but it shows another view; a person must name its view.`,
  'outlines.under-stress': ({ views }: { views: readonly string[] }) =>
    `Not assessed: the ${anyOf(views)} clips were recorded under stress, and none at rest.`,
  'rhythm.irregular': ({ beats, few }: { beats: number; few: boolean }) =>
    sentence(irregularText(beats, few)),
  'rhythm.unequal': () =>
    'The RR intervals of the A4C and A2C clips differ by more than 10 %: the biplane volumes combine unequal beats.',
  'lvef.sources-differ': apartText,
  /** The readings are both from the images, by different methods. */
  'lvef.methods-differ': apartText,
  'lvef.method-invalid': ({
    method,
    diameter,
    motion,
  }: {
    method: keyof typeof LINEAR_METHODS;
    /**
     * LVIDd in cm if the LV is dilated; otherwise null. `motion` is the score index if it is
     * raised; otherwise null.
     */
    diameter: number | null;
    motion: number | null;
  }) => {
    const why = [
      diameter === null ? null : `the LV is dilated (${namedValue('lvidd', diameter)})`,
      motion === null
        ? null
        : `wall motion is abnormal (${namedValue('wall-motion-score-index', motion)})`,
    ].filter((one) => one !== null);
    return `LVEF by ${LINEAR_METHODS[method]} was neither graded nor used: ${allOf(why)}.`;
  },
} as const satisfies SentenceTable;

export const sayOfEcho = statementsOf<typeof ECHO_SENTENCES>();

/** One LVEF with its origin. It was measured by a method or calculated from volumes. */
interface EfReading {
  readonly [name: string]: string | number | boolean;
  key: EchoConcept;
  value: number;
  /** `corrected`: we calculated it from values of the machine, some of which a person corrected. */
  origin: 'image' | 'other-clip' | 'machine' | 'person' | 'corrected';
  /** True if we calculated the EF from EDV and ESV, which may be values of the machine. */
  ofVolumes: boolean;
}

export const namedValue = (key: EchoConcept, value: number) =>
  `${ECHO_CONCEPTS[key].abbreviation} ${valueText(key, value)}`;

/** Renders an LVEF with method and origin: "LVEF (biplane) 28 % from the machine". */
export function readingText({ key, value, origin, ofVolumes }: EfReading): string {
  return ofVolumes
    ? `LVEF ${valueText('lvef', value)} (EDV and ESV) ${ORIGIN_TEXT[origin]}`
    : `${namedValue(key, value)} ${ORIGIN_TEXT[origin]}`;
}

/** LVEFs that contradict each other. The first is the headline LVEF. */
export type EfReadings = { readings: readonly EfReading[]; points: number };

function apartText({ readings, points }: EfReadings): string {
  return `${allOf(readings.map(readingText))} differ by more than ${points} points: LVEF was not graded.`;
}

/** Linear LVEF methods (echo 4.2). */
const LINEAR_METHODS = { teichholz: 'Teichholz', cube: 'the cube method' } as const;

/** Number of beats to average in an irregular rhythm (echo 0.5). */
const ADVISED_IRREGULAR = 5;

function irregularText(beats: number, few: boolean): string {
  const advised = few ? `, fewer than the ${ADVISED_IRREGULAR} recommended` : '';
  return `Irregular RR intervals: values averaged over ${counted(beats, 'beat')}${advised}`;
}

const beatsText = (beats: number) => (beats === 1 ? 'from one beat' : `mean of ${beats} beats`);

/** Combinations of values that are impossible in any heart. */
const CONTRADICTIONS = {
  'diameter-not-smaller': 'LVIDs is not smaller than LVIDd',
  'area-not-smaller': 'the end-systolic area is not smaller than the end-diastolic area',
} as const;

/**
 * Text for the flow or structure recognised by the form of a display, used if the header does not
 * identify it.
 */
const FORMS = {
  'fits-none': 'its shape matches no single flow',
  'tissue-scale': "a tissue Doppler scale, S' on one side of the baseline and e' on the other",
  'two-waves': 'two waves per beat towards the probe, the first after a pause as long as systole',
  'ejection-in-view': 'one ejection per beat away from the probe in a view of that outflow tract',
  ejection: 'one ejection per beat away from the probe: LVOT or RVOT, which look the same',
  'moving-edge': 'an edge that moves back and forth with every beat',
} as const;

/** Reasons why the reading of a display is unreliable. */
const DISPLAY_DOUBTS = {
  fused: 'E and A are fused: A begins above 20 cm/s',
  phase:
    'E and A cannot be distinguished with certainty: judging by the time between the waves, either may follow systole',
  inverted:
    "two waves per beat above the baseline and one below: the machine may have inverted the display, and S' cannot be distinguished from e'",
  'at-end': 'a peak reaches the end of the scale and may be cut off or aliased',
  'beats-differ': 'the beats differ too much to be averaged',
  'readings-differ':
    'two readings of its edge differ: the value depends on where the edge is drawn',
  'one-wave': 'one wave per beat in a regular rhythm: E and A may be fused',
  'atrial-wall': 'the edge that moves furthest may be the atrial wall, not the mitral annulus',
  'another-edge': 'another edge is clearer or moves further: it is uncertain which is the annulus',
  'another-band': 'another dark band is equally distinct: it is uncertain which is the vein',
  'not-ventricle':
    'the walls do not move like those of the left ventricle, or their dimensions are implausible',
  'single-beat': 'a single beat',
  'under-stress': 'recorded during a stress test or a manoeuvre, not at rest',
  faint: 'the trace is too faint or its beats differ',
} as const;

const DISPLAY_REMARKS = {
  'no-a-wave': 'one wave per beat: E is seen without A',
  largest: 'largest',
  breath: 'during the recorded breath; whether it was a sniff is unknown',
} as const;

const FLUID_PLACES = {
  'behind-wall': 'behind the posterior wall, end-diastole; may be deeper elsewhere',
  outline: 'the outline extends beyond the fluid; measure by hand',
} as const;

const IMAGE_INPUTS = {
  volumes: 'EDV and ESV from the images',
  diameters: 'LVIDd and LVIDs from the images',
  values: 'values from the images',
  machine: 'its inputs',
} as const;

/** Reasons why a right-heart value must be wrong. */
const RIGHT_HEART_FAULTS = {
  'contradicts-cava': 'a normal RA pressure contradicts a wide IVC that does not collapse',
  'rests-on-contradicted': 'it includes an RA pressure that contradicts the IVC',
  'contradicts-jet':
    'with the measured TR velocity, the RA pressure would be negative or implausibly high',
  'rests-on-contradicted-rvsp': 'it is based on an RVSP that contradicts the TR velocity',
  torrential: 'in torrential TR the jet velocity underestimates RV pressure',
  'outflow-stenosis': 'in pulmonary stenosis RVSP is not the pulmonary artery pressure',
  'grows-in-systole': 'the RV outline is no smaller in systole',
} as const;

const CHAMBER_NAMES = { lv: 'LV', la: 'LA', rv: 'RV', ra: 'RA' } as const;

/** Reasons why an outline does not show a whole chamber. */
const OUTLINE_FAULTS = {
  dented: 'has an anatomically implausible indentation',
  'out-of-sector': 'is cut off at the edge of the image',
  'too-small-beside-lv': 'is too small relative to the LV; a shadow may hide part of it',
} as const;

const PRESUMPTIONS = {
  sniff: 'collapse assumed to be with a sniff',
  'no-outflow-stenosis': 'equals systolic PA pressure in the absence of RVOT or pulmonary stenosis',
} as const;

/** Remarks on values, by code. The note of a measurement is rendered from them. */
export const ECHO_REMARKS = {
  'echo.not-finite': () => 'not a finite number',
  'echo.implausible': ({ key, low, high }: { key: EchoConcept; low: number; high: number }) =>
    `outside the plausible range of ${low} to ${valueText(key, high)}; a measurement error is likely`,
  'echo.stroke-implausible': (of: { stroke: number; low: number; high: number }) =>
    `stroke volume ${valueText('lvedv-biplane', of.stroke)}, outside the plausible range of ${of.low} to ${of.high} ml; a contour error is likely`,
  'echo.contradiction': ({ pair }: { pair: keyof typeof CONTRADICTIONS }) => CONTRADICTIONS[pair],
  'echo.rests-on-withheld': ({ key }: { key: EchoConcept }) =>
    `it is based on ${ECHO_CONCEPTS[key].label}, which was withheld`,
  'echo.inputs-differ': (of: {
    key: EchoConcept;
    value: number;
    inputs: keyof typeof IMAGE_INPUTS;
  }) => `${IMAGE_INPUTS[of.inputs]} give ${valueText(of.key, of.value)}`,
  'echo.recalculated': ({ key, value }: { key: EchoConcept; value: number }) =>
    `calculated again, because one of its inputs was corrected; the machine gave ${valueText(key, value)}`,
  'echo.input-corrected': () =>
    'one of its inputs was corrected; it cannot be calculated again without the others',
  'echo.of-images': ({ key, value }: { key: EchoConcept; value: number }) =>
    `image analysis: ${valueText(key, value)}`,
  'echo.surface-of-machine': () => 'from the machine: the request does not give height and weight',
  'echo.presumes': ({ what }: { what: keyof typeof PRESUMPTIONS }) => PRESUMPTIONS[what],
  'echo.range-by-sex': (of: {
    male: readonly [number, number];
    female: readonly [number, number];
  }) => `normal range: male ${of.male.join(' to ')}, female ${of.female.join(' to ')}`,
  'echo.range-unverified': () => 'range as published, not checked against a second source',
  'outlines.beats': ({ beats }: { beats: number }) => beatsText(beats),
  'outlines.irregular': ({ beats, few }: { beats: number; few: boolean }) =>
    irregularText(beats, few),
  'outlines.every-nth-frame': ({ stride }: { stride: number }) => `${everyNth(stride)} frame`,
  'outlines.phases-by-area': () => 'phases from the change in area, no ECG',
  'outlines.phases-of-few-frames': ({ frames }: { frames: number }) =>
    `clip of ${frames} frames: the largest and smallest cavities are taken as ED and ES`,
  'outlines.ratio-only': ({ of }: { of: 'volumes' | 'areas' }) =>
    `ratio only; ${of} not calibrated`,
  'outlines.networks-disagree': () => 'the two networks do not agree',
  'lvef.other-clip-disputed': ({ points }: { points: number }) =>
    `another A4C clip gave an LVEF more than ${points} points apart, which was not accepted because the two networks do not agree on it`,
  'outlines.networks-disagree-here': () => 'the two networks do not agree on this clip',
  'outlines.beats-contradict': (of: { key: EchoConcept; least: number; greatest: number }) =>
    `the beats contradict each other: ${valueText(of.key, of.least)} to ${valueText(of.key, of.greatest)}`,
  'outlines.fault': (of: {
    chamber: keyof typeof CHAMBER_NAMES;
    fault: keyof typeof OUTLINE_FAULTS;
  }) => `the ${CHAMBER_NAMES[of.chamber]} outline ${OUTLINE_FAULTS[of.fault]}`,
  'outlines.untrusted': () =>
    'no permitted model has been shown to measure it accurately enough on real images',
  'outlines.standard-a4c': () => 'a standard A4C underestimates RV size',
  'outlines.rv-unreliable': ({ key }: { key: EchoConcept }) =>
    `the RV outline is not reliable: ${ECHO_CONCEPTS[key].label} is implausible`,
  'right-heart.fault': ({ fault }: { fault: keyof typeof RIGHT_HEART_FAULTS }) =>
    RIGHT_HEART_FAULTS[fault],
  'strain.by-least-volume': () => 'end-systole by minimum volume',
  'strain.slow': ({ rate }: { rate: number }) => `${rate} frames per second, 40 recommended`,
  'strain.contour-beside': ({ value }: { value: number }) =>
    `contour strain from the outlines: ${valueText('gls-end-systolic', value)}`,
  'wall-motion.scored': ({ scored, of }: { scored: number; of: number }) =>
    `${scored} of ${of} segments scored`,
  'fluid.place': ({ place }: { place: keyof typeof FLUID_PLACES }) => FLUID_PLACES[place],
  'fluid.view': ({ family }: { family: string }) => `${family}, end-diastole`,
  'valves.foreign-area': () =>
    'DVI and AVA divided by LVOT area differ by more than 1 %: one of them is from another measurement',
  'diastolic.invalid-ratio': () => 'not valid in mitral valve disease',
  'diastolic.fast': ({ rate, most }: { rate: number; most: number }) =>
    `the heart rate of ${rate} is above ${most} per minute`,
  'display.beats': (of: { beats: number; irregular: boolean; advised: number }) => {
    if (of.irregular) return irregularText(of.beats, of.beats < of.advised);
    const few = of.beats < of.advised ? `, fewer than the ${of.advised} recommended` : '';
    return `${beatsText(of.beats)}${few}`;
  },
  'display.form': ({ form }: { form: keyof typeof FORMS }) =>
    `identified by its shape: ${FORMS[form]}`,
  'display.form-uncertain': ({ form }: { form: keyof typeof FORMS }) =>
    `identified by its shape only, which is not enough: ${FORMS[form]}`,
  'display.unnamed': ({ form }: { form: keyof typeof FORMS | null }) =>
    `the header does not name the structure${form ? ` (${FORMS[form]})` : ''}`,
  'display.doubt': ({ doubt }: { doubt: keyof typeof DISPLAY_DOUBTS }) => DISPLAY_DOUBTS[doubt],
  'display.remark': ({ remark }: { remark: keyof typeof DISPLAY_REMARKS }) =>
    DISPLAY_REMARKS[remark],
} as const satisfies SentenceTable;

export const remarkOfEcho = remarksOf<typeof ECHO_REMARKS>();

export type DisplayForm = keyof typeof FORMS;
export type DisplayDoubt = keyof typeof DISPLAY_DOUBTS;
export type DisplayRemark = keyof typeof DISPLAY_REMARKS;
export type ImageInputs = keyof typeof IMAGE_INPUTS;
export type Presumption = keyof typeof PRESUMPTIONS;
export type RightHeartFault = keyof typeof RIGHT_HEART_FAULTS;
