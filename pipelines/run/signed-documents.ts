import { createHash } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import type { Paper } from '../../config/schema.ts';
import type { GrowthCurve } from '../artifacts/drawing/growth-curve.ts';
import { rebuildReportPdf } from '../artifacts/pdf/report.ts';
import type { Subject } from '../dicom/subject.ts';
import { withArtifacts } from '../result/assemble.ts';
import type { ArtifactEntry, Result } from '../result/envelope.ts';
import { titleAndLimitations } from '../result/render/report-lines.ts';
import { buildDocuments, type ExtraArtifact } from './write-artifacts.ts';

interface SignedInput {
  /** The signed result, including the artifacts of the draft. */
  result: Result;
  subject: Subject;
  folder: string;
  /**
   * Suffix added to a name before its extension: `report-signed-1.pdf` is stored beside
   * `report.pdf`.
   */
  suffix: string;
  curves: readonly GrowthCurve[];
  paper?: Paper;
  extra: readonly ExtraArtifact[];
  artifactPath(name: string): Promise<string | null>;
}

/** Returns the result with a report that no longer says that it is a draft. */
function withSignedReport(result: Result): Result {
  const { report } = result;
  if (!report) return result;
  return {
    ...result,
    report: { ...report, ...titleAndLimitations(result, report.impression_lines) },
  };
}

/**
 * Writes the documents of a signed result: PDF, structured reports, segmentations and the artifacts
 * in `extra`. The pictures of the draft are reused.
 * @returns the result with all its artifacts, and the new artifacts.
 */
export async function writeSignedDocuments(
  input: SignedInput,
): Promise<{ result: Result; artifacts: ArtifactEntry[] }> {
  const { subject, folder, suffix, curves, paper, extra, artifactPath } = input;
  const result = withSignedReport(input.result);
  const artifacts: ArtifactEntry[] = [];
  const write = async (name: string, mediaType: string, content: Buffer | string) => {
    const ending = extname(name);
    const own = `${name.slice(0, name.length - ending.length)}${suffix}${ending}`;
    const bytes = typeof content === 'string' ? Buffer.from(content) : content;
    await writeFile(join(folder, own), bytes);
    const sha256 = createHash('sha256').update(bytes).digest('hex');
    const entry = { name: own, media_type: mediaType, bytes: bytes.length, sha256, section: null };
    artifacts.push(entry);
  };
  const pdf = await rebuildReportPdf(result, subject, curves, artifactPath, paper);
  await write('report.pdf', 'application/pdf', pdf);
  for (const { name, mediaType, content } of await buildDocuments(result, subject, extra)) {
    await write(name, mediaType, content);
  }
  return { result: withArtifacts(result, [...result.artifacts, ...artifacts]), artifacts };
}
