import { readFile } from 'node:fs/promises';
import sharp from 'sharp';
import type { Paper } from '../../../config/schema.ts';
import { inParallel } from '../../../src/platform/in-parallel.ts';
import { chartEntry } from '../../concepts/concepts.ts';
import { isoDate } from '../../dicom/dates.ts';
import type { DicomIdentity, Subject } from '../../dicom/subject.ts';
import { earlierValues } from '../../result/earlier-values.ts';
import type { Measurement, Result, Section } from '../../result/envelope.ts';
import { conclusionsBesideFindings } from '../../result/render/echo/report.ts';
import { basisText, weeksAndDays } from '../../result/render/obstetric/shared.ts';
import { byId, renderStatements } from '../../result/render/render.ts';
import { gapLine, inputLimitations } from '../../result/render/report-lines.ts';
import {
  accepted,
  DRAFT_NOTICE,
  noMeasurementStatement,
  ownSections,
  remarks,
  sectionStatement,
} from '../../result/render/statement.ts';
import { isSameStatement } from '../../result/statement.ts';
import { bullsEye } from '../drawing/bulls-eye.ts';
import { drawOnPdf } from '../drawing/draw.ts';
import type { Drawing } from '../drawing/drawing.ts';
import { growthPanel } from '../drawing/growth-chart.ts';
import { type GrowthCurve, measuredOnCurve } from '../drawing/growth-curve.ts';
import { dueDate } from '../due-date.ts';
import { keyOverlays, overlaysOf } from '../previews/overlays.ts';
import { PICTURES_AT_ONCE } from '../previews/raster.ts';
import { MARK_LEGEND, measurementTable } from './measurement-table.ts';
import {
  ALERT,
  closeDocument,
  groupedTable,
  heading,
  MARGIN,
  MUTED,
  makeRoom,
  openDocument,
  type Page,
  paragraph,
  startHeight,
  table,
  textHeight,
  WIDTH,
} from './page.ts';

/** The wording of documents that differs by endpoint. */
const EXAMINATIONS = {
  'us/obstetric': { title: 'Obstetric ultrasound report' },
  'us/echo': { title: 'Echocardiography report' },
} as const;

type Model = keyof typeof EXAMINATIONS;

function modelOf({ endpoint }: Pick<Result, 'endpoint'>): Model {
  return endpoint.startsWith('us/echo') ? 'us/echo' : 'us/obstetric';
}

/** Title of the document for people. */
const reportTitle = (result: Pick<Result, 'endpoint'>) => EXAMINATIONS[modelOf(result)].title;

/** Whether the report has a gestational age and growth. */
const isObstetric = (result: Pick<Result, 'endpoint'>) => modelOf(result) === 'us/obstetric';

/**
 * Returns "Beispiel, Zoë" for the PN "Beispiel^Zoë^^Dr."; only the alphabetic group is read (PS3.5
 * 6.2.1).
 */
export function readableName(name: string): string {
  const [alphabetic = ''] = name.split('=');
  const [family = '', given = '', middle = '', prefix = '', suffix = ''] = alphabetic.split('^');
  const first = [prefix, given, middle].filter(Boolean).join(' ');
  return [family, first, suffix].filter(Boolean).join(', ');
}

/** Returns a DA as YYYY-MM-DD for people; text that is not a date is returned unchanged. */
const readableDate = (date: string): string => isoDate(date) ?? date;

const or = (value: string): string => value || 'not given';

/** Returns the labels and values for the head of the report, in reading order. */
function patientRows({ identity }: Subject): [string, string][] {
  if (!identity) return [['Patient', 'Anonymous']];
  return [
    ['Patient', or(readableName(identity.PatientName))],
    ['Date of birth', or(readableDate(identity.PatientBirthDate))],
    ['Patient ID', or(identity.PatientID)],
    ['Referring physician', or(readableName(identity.ReferringPhysicianName))],
  ];
}

function studyRows(identity: DicomIdentity | null): [string, string][] {
  if (!identity) return [];
  return [
    ['Study date', or(readableDate(identity.StudyDate))],
    ['Study', or(identity.StudyDescription)],
    ['Accession number', or(identity.AccessionNumber)],
  ];
}

/** One line that names the patient on every page. */
function patientLine({ identity }: Subject): string {
  if (!identity) return 'Anonymous';
  const birth = readableDate(identity.PatientBirthDate);
  return [readableName(identity.PatientName), birth, identity.PatientID].filter(Boolean).join('  ');
}

/** A preview (preview.ts) as PNG or JPEG. */
export interface KeyImage {
  bytes: Buffer;
  width: number;
  height: number;
}

interface ReportInput {
  result: Result;
  subject: Subject;
  /** Growth panels (growth-chart.ts); empty where no value was read against a chart. */
  panels: readonly Drawing[];
  keyImages: readonly KeyImage[];
  paper?: Paper;
}

const counted = (count: number, noun: string): string =>
  `${count} ${noun}${count === 1 ? '' : 's'}`;

function head(page: Page, { subject, result }: ReportInput): void {
  paragraph(page, reportTitle(result), { size: 17, bold: true });
  page.y += 4;
  const rows = [patientRows(subject), studyRows(subject.identity)];
  const top = page.y;
  const bottoms = rows.map((column, index) => {
    page.y = top;
    const x = MARGIN + (index * WIDTH) / 2;
    for (const [label, value] of column) {
      page.doc.font('regular').fontSize(9).fillColor(MUTED).text(label, x, page.y);
      paragraph(page, value, { x: x + 96, width: WIDTH / 2 - 100, bold: label === 'Patient' });
    }
    return page.y;
  });
  page.y = Math.max(...bottoms) + 2;
  if (subject.indication) paragraph(page, `Indication: ${subject.indication}`);
  const made = result.generated_at.slice(0, 16).replace('T', ' ');
  const { files, frames, calibrated_frames: calibrated } = result.input_summary;
  paragraph(
    page,
    `Read from ${counted(files, 'file')} with ${counted(frames, 'frame')}, ${calibrated} calibrated. Draft made ${made} UTC.`,
    { size: 8, colour: MUTED },
  );
}

function dating(page: Page, { subject, result }: ReportInput): void {
  if (!isObstetric(result)) return;
  heading(page, 'Dating', 20);
  if (!subject.dating) {
    paragraph(page, 'Gestational age was not given; growth centiles were not computed.');
    return;
  }
  const { gaDays, basis } = subject.dating;
  const age = `${weeksAndDays(gaDays)} weeks (${gaDays} days)`;
  paragraph(page, `Gestational age on the day of the scan: ${age}, by ${basisText(basis)}.`);
  const due = dueDate(subject);
  if (due) paragraph(page, `Expected date of delivery: ${due}.`);
}

/**
 * Returns what a section concludes beyond the findings, as one line; null where there is nothing to
 * add.
 */
function beyondFindings(section: Section, result: Result): string | null {
  const { statements, summary } = section;
  if (!statements) return summary || null;
  const found = result.findings.flatMap(({ statement }) => statement ?? []);
  const others = statements.filter((one) => !found.some((other) => isSameStatement(one, other)));
  return renderStatements(others, byId(result.measurements)) || null;
}

const isRead = ({ status }: Section) => status === 'complete' || status === 'partial';

/**
 * Returns the conclusions that are not findings: those of the draft report or, without one, those
 * of each section.
 */
function conclusionLines(result: Result): string[] {
  if (!result.report) {
    return ownSections(result).flatMap((section) => {
      const text = isRead(section) ? beyondFindings(section, result) : null;
      return text ? [`${section.title}: ${text}`] : [];
    });
  }
  if (!isObstetric(result)) return conclusionsBesideFindings(result);
  const growth = result.sections.find(({ id }) => id === 'growth');
  return growth && isRead(growth) ? [beyondFindings(growth, result) ?? []].flat() : [];
}

/**
 * Writes the abnormal findings, then the conclusions of the sections, then the findings that are
 * only noted.
 */
function conclusion(page: Page, { result }: ReportInput): void {
  heading(page, 'Conclusion', 30);
  const nothing = noMeasurementStatement(result);
  if (nothing) paragraph(page, nothing, { bold: true });
  const loud = result.findings.filter(({ severity }) => severity !== 'info');
  for (const { text } of loud) paragraph(page, text, { bold: true, colour: ALERT });
  for (const line of conclusionLines(result)) paragraph(page, line);
  const quiet = result.findings.filter(({ severity }) => severity === 'info');
  for (const { text } of quiet) paragraph(page, text);
  for (const { text, source } of result.guidance) paragraph(page, `${text} (${source})`);
}

function measurements(page: Page, { result }: ReportInput): void {
  if (result.measurements.length === 0) return;
  heading(page, 'Measurements', 40);
  const { columns, groups } = measurementTable(result);
  groupedTable(page, columns, groups);
  paragraph(page, MARK_LEGEND, { size: 7.5, colour: MUTED });
  const charts = new Set(accepted(result).flatMap(({ reference }) => reference?.chart ?? []));
  for (const key of charts) {
    const chart = chartEntry(key);
    const text = chart ? `${chart.name}. ${chart.citation}` : key;
    paragraph(page, `Reference: ${text}`, { size: 7.5, colour: MUTED });
  }
  for (const remark of remarks(result)) paragraph(page, remark, { size: 7.5, colour: MUTED });
}

/** Draws the growth panels, two to a row; no panel is split over pages. */
function growth(page: Page, { panels }: ReportInput): void {
  const [first] = panels;
  if (!first) return;
  const scale = (WIDTH - 12) / 2 / first.width;
  const height = first.height * scale + 8;
  heading(page, 'Growth', height);
  panels.forEach((panel, index) => {
    const column = index % 2;
    if (column === 0) makeRoom(page, height);
    drawOnPdf(page.doc, panel, MARGIN + column * (WIDTH / 2 + 6), page.y, scale);
    if (column === 1 || index === panels.length - 1) page.y += height;
  });
}

/** Share of the width of the page that the bull's-eye takes. */
const BULLS_EYE_SHARE = 0.5;

function strain(page: Page, { result }: ReportInput): void {
  const drawing = bullsEye(result);
  if (!drawing) return;
  const scale = (BULLS_EYE_SHARE * WIDTH) / drawing.width;
  const height = drawing.height * scale;
  heading(page, 'Strain by segment', height);
  makeRoom(page, height);
  drawOnPdf(page.doc, drawing, MARGIN, page.y, scale);
  page.y += height;
}

const KEY_IMAGE_NOTE =
  'Each image shows the values measured on it; the table gives the median of repeated values.';

function keyImages(page: Page, { keyImages: images }: ReportInput): void {
  const [first] = images;
  if (!first) return;
  const width = (WIDTH - 12) / 2;
  const heightOf = (image: KeyImage) => (image.height * width) / image.width;
  heading(page, 'Key images', heightOf(first) + 20);
  paragraph(page, KEY_IMAGE_NOTE, { size: 7.5, colour: MUTED });
  for (let index = 0; index < images.length; index += 2) {
    const row = images.slice(index, index + 2);
    const height = Math.max(...row.map(heightOf)) + 8;
    makeRoom(page, height);
    row.forEach((image, column) => {
      page.doc.image(image.bytes, MARGIN + column * (width + 12), page.y, { width });
    });
    page.y += height;
  }
}

/**
 * Returns why a section was not assessed. The heading already says "not assessed", so that only
 * another status is named.
 */
function reasonText(section: Section): string {
  const { status, summary, reason } = section;
  const plain = status === 'not_assessed' && reason && ['', reason.detail].includes(summary);
  return plain ? reason.detail : sectionStatement(section);
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
    .map((section) => [{ text: section.title }, { text: reasonText(section) }]);
  if (rows.length === 0) return;
  heading(page, 'Not assessed', textHeight(page, text) + startHeight(page, columns, rows[0]));
  paragraph(page, text);
  table(page, columns, rows);
}

/** Writes the limitations, without those that the table of parts not assessed already shows. */
function limitations(page: Page, { result }: ReportInput): void {
  const tabled = new Set(
    ownSections(result)
      .filter((section) => !isRead(section))
      .map(gapLine),
  );
  const lines = (result.report?.limitations ?? limitationsWithoutReport(result)).filter(
    (line) => !tabled.has(line),
  );
  if (lines.length === 0) return;
  heading(page, 'Limitations', 20);
  for (const line of lines) paragraph(page, line);
}

/**
 * Returns the limitations of a result without a report section: what was assessed only in part, and
 * what applies to the images.
 */
function limitationsWithoutReport(result: Result): string[] {
  const partial = result.sections
    .filter(({ status }) => status === 'partial')
    .flatMap((section) => gapLine(section) ?? []);
  return [...partial, ...inputLimitations(result)];
}

function software(page: Page, { result, subject }: ReportInput): void {
  heading(page, 'Software', 60);
  paragraph(
    page,
    `Sonogate ${result.endpoint} ${result.version}, request ${subject.requestId}. ${DRAFT_NOTICE}.`,
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
  dating,
  conclusion,
  measurements,
  growth,
  strain,
  keyImages,
  notAssessed,
  limitations,
  software,
] as const;

/** Builds the report for people, with embedded fonts and a draft notice on every page. */
function buildReportPdf(input: ReportInput): Promise<Buffer> {
  const page = openDocument(
    `${reportTitle(input.result)} - ${DRAFT_NOTICE}`,
    new Date(input.result.generated_at),
    input.paper,
  );
  for (const block of BLOCKS) block(page, input);
  return closeDocument(page, patientLine(input.subject));
}

/**
 * Key images in the PDF are photographs beside vectors: JPEG keeps the file small, and two side by
 * side need no more pixels at 250 per inch.
 */
const KEY_IMAGE = { width: 900, quality: 88 } as const;

/** The bytes of a preview PNG and the measurements on it. */
interface ReportPreview {
  png: Buffer;
  measurements: readonly Measurement[];
}

async function keyImage({ png }: ReportPreview): Promise<KeyImage> {
  const { data, info } = await sharp(png)
    .resize({ width: KEY_IMAGE.width, withoutEnlargement: true })
    .jpeg({ quality: KEY_IMAGE.quality })
    .toBuffer({ resolveWithObject: true });
  return { bytes: data, width: info.width, height: info.height };
}

/**
 * Renders the report of a result, with its growth panels and the previews that show a further
 * quantity.
 */
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
  const keyImages = await inParallel(previews, PICTURES_AT_ONCE, keyImage);
  return buildReportPdf({ result, subject, panels, keyImages, ...(paper && { paper }) });
}

/**
 * Builds the report of a stored result again, for the copy of a delivery that has the identity of
 * the source images. The stored previews are used; a missing preview is left out.
 * @param artifactPath path of a stored artifact by its name, null where it does not exist (any
 * more).
 */
export async function rebuildReportPdf(
  result: Result,
  subject: Subject,
  curves: readonly GrowthCurve[],
  artifactPath: (name: string) => Promise<string | null>,
  paper?: Paper,
): Promise<Buffer> {
  const previews: ReportPreview[] = [];
  for (const { name, measurements } of keyOverlays(overlaysOf(result.measurements))) {
    const path = await artifactPath(name);
    if (path) previews.push({ png: await readFile(path), measurements });
  }
  return renderReport(result, subject, previews, curves, paper);
}
