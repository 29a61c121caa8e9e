import type { Paper } from '../../../config/schema.ts';
import { inParallel } from '../../../src/platform/in-parallel.ts';
import { chartEntry } from '../../concepts/concepts.ts';
import { isoDate } from '../../dicom/dates.ts';
import type { Subject } from '../../dicom/subject.ts';
import { earlierValues } from '../../result/earlier-values.ts';
import type { Result, Section } from '../../result/envelope.ts';
import { dueDate } from '../../result/estimated-due-date.ts';
import { conclusionOf } from '../../result/render/conclusion.ts';
import { basisText, weeksAndDays } from '../../result/render/obstetric/shared.ts';
import { examinationName, gapLine, limitationsOf } from '../../result/render/report-lines.ts';
import {
  accepted,
  noMeasurementStatements,
  noticeOf,
  outcomeText,
  ownSections,
  remarks,
  researchNotice,
  sectionStatement,
  signedBy,
} from '../../result/render/statement.ts';
import { counted } from '../../result/render/unit-text.ts';
import { INTERMEDIATE } from '../../result/standing.ts';
import { bullsEye } from '../drawing/bulls-eye.ts';
import { drawOnPdf, isPrintable, printable, textWidth } from '../drawing/draw.ts';
import type { Drawing } from '../drawing/drawing.ts';
import { growthPanel } from '../drawing/growth-chart.ts';
import { type GrowthCurve, measuredOnCurve } from '../drawing/growth-curve.ts';
import { keyOverlays, storedPreviews } from '../previews/overlays.ts';
import { PICTURES_AT_ONCE } from '../previews/raster.ts';
import { compactTable } from './compact-table.ts';
import {
  firstRowHeight,
  furtherImages,
  type KeyImage,
  keyImage,
  keyImages,
  type ReportPreview,
} from './key-images.ts';
import { MARK_LEGEND, measurementTable } from './measurement-table.ts';
import {
  ALERT,
  closeDocument,
  groupedTable,
  HEADING_HEIGHT,
  heading,
  INK,
  MARGIN,
  MUTED,
  makeRoom,
  newPage,
  openDocument,
  PAGE_HEAD_SIZE,
  type Page,
  paragraph,
  paragraphHeight,
  startHeight,
  table,
  tagged,
  WIDTH,
  within,
} from './page.ts';

const reportTitle = (result: Pick<Result, 'endpoint'>) => `${examinationName(result)} report`;

/** Shown in place of a name that has no component group whose letters are all in this font. */
const UNPRINTABLE = 'name in letters that this report cannot print';

/**
 * Returns "Beispiel, Dr. Zoë" for the PN "Beispiel^Zoë^^Dr.": the first component group whose
 * letters are all in the font. Any group may be missing, even the alphabetic one (PS3.5 6.2.1).
 */
export function readableName(name: string): string {
  const groups = name.split('=').map((group) => {
    const [family = '', given = '', middle = '', prefix = '', suffix = ''] = group.split('^');
    const first = [prefix, given, middle].filter(Boolean).join(' ');
    return [family, first, suffix].filter(Boolean).join(', ');
  });
  const given = groups.filter((group) => group.trim() !== '');
  return given.find(isPrintable) ?? (given.length > 0 ? UNPRINTABLE : '');
}

const readableDate = (date: string): string => isoDate(date) ?? date;

const or = (value: string): string => value || 'not given';

const withOrigin = (value: string, key: string, { order }: Pick<Subject, 'order'>): string =>
  order?.joined.includes(key) ? `${value} (from the order)` : value;

function patientRows(subject: Subject): [string, string][] {
  const { identity, order } = subject;
  if (!identity) return [['Patient', 'Anonymous']];
  const referrer = identity.ReferringPhysicianName || order?.referringPhysicianName || '';
  return [
    ['Patient', or(readableName(identity.PatientName))],
    ['Date of birth', or(readableDate(identity.PatientBirthDate))],
    ['Patient ID', or(identity.PatientID)],
    [
      'Referring physician',
      withOrigin(or(readableName(referrer)), 'referringPhysicianName', subject),
    ],
  ];
}

/**
 * Returns text such as "GE Healthcare Voluson E10, ROOM-2"; empty if the images do not identify the
 * machine.
 */
function equipmentText({ equipment }: Subject): string {
  if (!equipment) return '';
  const { manufacturer, model, station } = equipment;
  // Some manufacturers repeat their name in the model name.
  const machine = model.startsWith(manufacturer) ? model : `${manufacturer} ${model}`.trim();
  return [machine, station].filter(Boolean).join(', ');
}

function studyRows(subject: Subject): [string, string][] {
  const { identity, order } = subject;
  if (!identity) return [];
  const accessionNumber = identity.AccessionNumber || order?.accessionNumber || '';
  const requested = order?.requestedProcedure;
  const equipment = equipmentText(subject);
  return [
    ['Study date', or(readableDate(identity.StudyDate))],
    ['Study', or(identity.StudyDescription)],
    ['Accession number', withOrigin(or(accessionNumber), 'accessionNumber', subject)],
    ...(requested ? [['Requested', requested] as [string, string]] : []),
    ...(equipment ? [['Equipment', equipment] as [string, string]] : []),
  ];
}

function datingRows(subject: Subject): [string, string][] {
  if (!subject.dating) return [];
  const { gaDays, basis } = subject.dating;
  const age = `${weeksAndDays(gaDays)} weeks by ${withOrigin(basisText(basis), 'dating', subject)}`;
  const due = dueDate(subject);
  return [
    ['Gestational age', age],
    ...(due ? [['Expected delivery', due] as [string, string]] : []),
  ];
}

/**
 * Returns the line that identifies the patient on every page. A long name is shortened, so that the
 * birth date and the patient ID always fit beside it.
 */
export function patientLine({ identity }: Pick<Subject, 'identity'>): string {
  if (!identity) return 'Anonymous';
  const birth = readableDate(identity.PatientBirthDate);
  const lineOf = (name: string) => [name, birth, identity.PatientID].filter(Boolean).join('  ');
  const letters = [...readableName(identity.PatientName)];
  const shortened = (count: number) => `${letters.slice(0, count).join('').trimEnd()}…`;
  let line = lineOf(letters.join(''));
  for (let count = letters.length - 1; count > 0 && !fitsLine(line); count -= 1) {
    line = lineOf(shortened(count));
  }
  return line;
}

const fitsLine = (line: string) => textWidth(printable(line), PAGE_HEAD_SIZE) <= WIDTH;

interface ReportInput {
  result: Result;
  subject: Subject;
  /** Growth panels (growth-chart.ts); empty if no value is charted. */
  panels: readonly Drawing[];
  keyImages: readonly KeyImage[];
  paper?: Paper;
}

function head(page: Page, { subject, result }: ReportInput): void {
  page.doc.outline.addItem(reportTitle(result));
  paragraph(page, reportTitle(result), { size: 15, bold: true, tag: 'H1' });
  const rows = [patientRows(subject), [...studyRows(subject), ...datingRows(subject)]];
  const top = page.y + 2;
  const bottoms = rows.map((column, index) => {
    page.y = top;
    const x = MARGIN + (index * WIDTH) / 2;
    for (const [label, value] of column) {
      const at = page.y;
      paragraph(page, label, { x, width: 92, size: 8.5, colour: MUTED });
      const after = page.y;
      page.y = at;
      const width = WIDTH / 2 - 100;
      const bold = label === 'Patient';
      paragraph(page, value, { x: x + 92, width, size: 8.5, bold, verbatim: true });
      page.y = Math.max(page.y, after) - 1;
    }
    return page.y;
  });
  page.y = Math.max(...bottoms) + 2;
  if (subject.indication) {
    paragraph(page, `Indication: ${withOrigin(subject.indication, 'indication', subject)}`, {
      verbatim: true,
    });
  }
  const made = result.generated_at.slice(0, 16).replace('T', ' ');
  const { files, frames, calibrated_frames: calibrated } = result.input_summary;
  paragraph(
    page,
    `Read from ${counted(files, 'file')} with ${counted(frames, 'frame')}, ${calibrated} calibrated. ${result.draft ? 'Draft made' : 'Made'} ${made} UTC.`,
    { size: 7.5, colour: MUTED },
  );
}

const isRead = ({ status }: Section) => status === 'complete' || status === 'partial';

/**
 * Writes the impression, in the same words as in every other document, followed by the
 * recommendations.
 */
function conclusion(page: Page, { result }: ReportInput): void {
  heading(page, 'Impression', 30);
  noMeasurementStatements(result).forEach((text, at) => {
    paragraph(page, text, { bold: at === 0 });
  });
  const { impression, impression_lines: lines = [] } = conclusionOf(result);
  impression.forEach((line, at) => {
    const severity = lines[at]?.severity ?? 'info';
    const colour = severity === 'critical' ? ALERT : INK;
    paragraph(page, line, { size: 9.5, bold: severity !== 'info', colour });
  });
  for (const { text, source } of result.guidance) {
    paragraph(page, `Advice: ${text} (${source})`, { size: 8, colour: MUTED });
  }
}

/**
 * Lists the parts that were not assessed, so that a missing part is not mistaken for a normal
 * finding.
 */
function openParts(page: Page, { result }: ReportInput): void {
  const sections = ownSections(result);
  const none = sections.filter((section) => !isRead(section)).map(({ title }) => title);
  const partly = sections.filter(({ status }) => status === 'partial').map(({ title }) => title);
  const each = [
    none.length > 0 ? `Not assessed: ${none.join(', ')}.` : '',
    partly.length > 0 ? `Assessed in part: ${partly.join(', ')}.` : '',
  ].filter(Boolean);
  if (each.length === 0) return;
  const text = `${each.join(' ')} What was not assessed is reported neither as normal nor as abnormal; the reasons are in the appendix.`;
  paragraph(page, text, { size: 7.5, colour: MUTED });
}

/** Smallest scale of the charts. They are reduced only if they then fit on the same page. */
const SMALLEST_CHART = 0.8;
const CHART_SPACE = 6;

/** Returns the scale of the charts on this page, and the height of a row of them. */
function chartSize(page: Page, panels: readonly Drawing[]): { scale: number; height: number } {
  const [first] = panels;
  if (!first) return { scale: 1, height: 0 };
  const rows = Math.ceil(panels.length / 2);
  // A single panel is drawn smaller, because the space beside it stays empty.
  const usual = ((panels.length > 1 ? 0.5 : 0.3) * (WIDTH - 12)) / first.width;
  const room = page.bottom - page.y - HEADING_HEIGHT - rows * CHART_SPACE;
  const fitting = room / (rows * first.height);
  const scale = fitting < usual && fitting >= SMALLEST_CHART * usual ? fitting : usual;
  return { scale, height: first.height * scale + CHART_SPACE };
}

function growth(page: Page, { panels }: ReportInput): void {
  if (panels.length === 0) return;
  const rows = Math.ceil(panels.length / 2);
  const { scale, height } = chartSize(page, panels);
  // Readers compare the charts with each other, so their rows are not separated by a page break.
  heading(page, 'Growth', rows * height);
  panels.forEach((panel, index) => {
    const column = index % 2;
    if (column === 0) makeRoom(page, height);
    const x = MARGIN + column * (WIDTH / 2 + 6);
    const alt = 'Growth chart with the value of this scan; the values are in the table.';
    tagged(page, 'Figure', () => drawOnPdf(page.doc, panel, x, page.y, scale), alt);
    if (column === 1 || index === panels.length - 1) page.y += height;
  });
}

/**
 * Draws the growth charts and the key images. The images come first if they fit on this page and the
 * charts do not, so that half the page is not left empty.
 */
function figures(page: Page, input: ReportInput): void {
  const { panels, keyImages: images } = input;
  const room = page.bottom - page.y - HEADING_HEIGHT;
  const charts = Math.ceil(panels.length / 2) * chartSize(page, panels).height;
  const areImagesFirst = images.length > 0 && charts > room && firstRowHeight(images) <= room;
  const pictures = () => keyImages(page, images);
  const drawings = [growth, strain].map((block) => () => block(page, input));
  for (const block of areImagesFirst ? [pictures, ...drawings] : [...drawings, pictures]) {
    within(page, 'Sect', block);
  }
}

const BULLS_EYE_SHARE = 0.5;

function strain(page: Page, { result }: ReportInput): void {
  const drawing = bullsEye(result);
  if (!drawing) return;
  const scale = (BULLS_EYE_SHARE * WIDTH) / drawing.width;
  const height = drawing.height * scale;
  heading(page, 'Strain by segment', height);
  makeRoom(page, height);
  const alt = "Bull's-eye of the longitudinal strain by segment of the left ventricle.";
  tagged(page, 'Figure', () => drawOnPdf(page.doc, drawing, MARGIN, page.y, scale), alt);
  page.y += height;
}

function signature(page: Page, { result: { verification } }: ReportInput): void {
  heading(page, 'Signature', 34);
  for (const { observer, organization, at } of verification?.signatures ?? []) {
    const time = `${at.slice(0, 10)} ${at.slice(11, 16)} UTC`;
    paragraph(page, `Signed by ${observer}, ${organization}, ${time}.`, { bold: true });
  }
  if (verification) return;
  paragraph(page, 'Draft: not signed.', { colour: MUTED });
  page.y += 10;
  paragraph(page, `Name and role ${'_'.repeat(34)}   Date and time ${'_'.repeat(22)}`);
}

function appendix(page: Page, { result, keyImages: images }: ReportInput): void {
  newPage(page);
  page.doc.outline.addItem('Appendix');
  paragraph(page, 'Appendix', { size: 13, bold: true, tag: 'H1' });
  if (result.measurements.length > 0) {
    heading(page, 'All values', 40);
    const { columns, groups } = measurementTable(result);
    groupedTable(page, columns, groups);
    paragraph(page, MARK_LEGEND, { size: 7.5, colour: MUTED });
  }
  const charts = new Set(accepted(result).flatMap(({ reference }) => reference?.chart ?? []));
  for (const key of charts) {
    const chart = chartEntry(key);
    const text = chart ? `${chart.name}. ${chart.citation}` : key;
    paragraph(page, `Reference: ${text}`, { size: 7.5, colour: MUTED });
  }
  for (const remark of remarks(result)) paragraph(page, remark, { size: 7.5, colour: MUTED });
  furtherImages(page, images);
}

/**
 * Returns why a section was not assessed. The heading already says "not assessed", so the status is
 * added only if it says something else.
 */
function reasonText(section: Section, result: Result): string {
  const { status, summary, reason } = section;
  if (status !== 'not_assessed') return sectionStatement(section, result);
  if (reason && summary === '') return reason.detail;
  return outcomeText(section, result) || sectionStatement(section, result);
}

const NOT_ASSESSED = {
  text: 'These parts were not assessed and are reported neither as normal nor as abnormal.',
  columns: [
    { title: 'Part of the examination', width: 150 },
    { title: 'Reason', width: WIDTH - 150 },
  ],
} as const;

function notAssessed(page: Page, { result }: ReportInput): void {
  const { text, columns } = NOT_ASSESSED;
  const rows = ownSections(result)
    .filter((section) => !isRead(section))
    .map((section) => [{ text: section.title }, { text: reasonText(section, result) }]);
  if (rows.length === 0) return;
  heading(page, 'Not assessed', paragraphHeight(page, text) + startHeight(page, columns, rows[0]));
  paragraph(page, text);
  table(page, columns, rows);
}

/**
 * Writes the limitations, except those already listed in the table of parts that were not assessed.
 */
function limitations(page: Page, { result }: ReportInput): void {
  const tabled = new Set(
    ownSections(result)
      .filter((section) => !isRead(section))
      .map(gapLine),
  );
  const lines = (result.report?.limitations ?? limitationsOf(result)).filter(
    (line) => !tabled.has(line),
  );
  if (lines.length === 0) return;
  heading(page, 'Limitations', 20);
  for (const line of lines) paragraph(page, line);
}

function software(page: Page, { result, subject }: ReportInput): void {
  heading(page, 'Software', 60);
  paragraph(
    page,
    `Sonogate ${result.endpoint} ${result.version}, request ${subject.requestId}. ${noticeOf(result)}.`,
    { size: 8 },
  );
  table(
    page,
    [
      { title: 'Model', width: 150 },
      { title: 'Version', width: 60 },
      { title: 'Weights, SHA-256', width: 149 },
      { title: 'Licence (pack)', width: 140 },
    ],
    result.models.map(({ id, version, sha256, licence, pack }) => [
      { text: id },
      { text: version },
      { text: `${sha256.slice(0, 16)}...`, colour: MUTED },
      { text: `${licence} (${pack})` },
    ]),
  );
}

const BLOCKS = [
  head,
  conclusion,
  (page: Page, { result }: ReportInput) => compactTable(page, result),
  openParts,
  figures,
  signature,
  appendix,
  notAssessed,
  limitations,
  software,
] as const;

function buildReportPdf(input: ReportInput): Promise<Buffer> {
  const page = openDocument(
    `${reportTitle(input.result)} - ${noticeOf(input.result)}`,
    new Date(input.result.generated_at),
    input.paper,
  );
  for (const block of BLOCKS) within(page, 'Sect', () => block(page, input));
  return closeDocument(page, {
    who: patientLine(input.subject),
    notice: researchNotice(input.result),
    signed: signedBy(input.result),
  });
}

/** Renders the report of a result, with its growth panels and all of the given previews. */
export async function renderReport(
  result: Result,
  subject: Subject,
  previews: readonly ReportPreview[],
  curves: readonly GrowthCurve[],
  paper?: Paper,
): Promise<Buffer> {
  const gaDays = subject.dating?.gaDays;
  const shown = curves.filter((curve) => measuredOnCurve(curve, result.measurements).length > 0);
  const panels =
    gaDays === undefined
      ? []
      : shown.map((curve) =>
          growthPanel(curve, result.measurements, gaDays, earlierValues(result)),
        );
  // Images on which only inputs of other values were measured come last.
  const ofInputs = ({ measurements }: ReportPreview) =>
    measurements.every(({ section }) => INTERMEDIATE.has(section));
  const ordered = previews.toSorted(
    (one, other) => Number(ofInputs(one)) - Number(ofInputs(other)),
  );
  const keyImages = await inParallel(ordered, PICTURES_AT_ONCE, keyImage);
  return buildReportPdf({
    ...{ result, subject, panels, keyImages },
    ...(paper && { paper }),
  });
}

/**
 * Rebuilds the report of a stored result with the identity of the source images, for delivery. The
 * stored previews are reused; a missing preview is left out.
 * @param artifactPath returns the path of a stored artifact by its name, or null if it does not
 *   exist.
 */
export async function rebuildReportPdf(
  result: Result,
  subject: Subject,
  curves: readonly GrowthCurve[],
  artifactPath: (name: string) => Promise<string | null>,
  paper?: Paper,
): Promise<Buffer> {
  const previews: ReportPreview[] = [];
  for (const stored of keyOverlays(await storedPreviews(result, artifactPath))) {
    const png = await stored.png();
    if (png) previews.push({ png, measurements: stored.measurements });
  }
  return renderReport(result, subject, previews, curves, paper);
}
