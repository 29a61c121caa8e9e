import { z } from 'zod';
import type { Queryable } from '../database/port.ts';

const artifactSchema = z.object({
  name: z.string(),
  media_type: z.string(),
  bytes: z.number().int().nonnegative(),
  sha256: z.string(),
  section: z.string().nullable(),
});

/** One artifact of a request, as the result lists it. */
export type ArtifactEntry = z.infer<typeof artifactSchema>;

/** All the core reads of a result: the files that belong to it, and the frames it is charged by. */
export const resultEssentialsSchema = z.object({
  artifacts: z.array(artifactSchema).default([]),
  input_summary: z.object({ frames: z.number().int().nonnegative() }).optional(),
});

/** Artifacts of a request in the order of its result. */
export async function listArtifacts(database: Queryable, id: string): Promise<ArtifactEntry[]> {
  const { rows } = await database.query<ArtifactEntry>(
    `SELECT name, media_type, bytes, sha256, section FROM request_artifacts
     WHERE request_id = $1 ORDER BY position`,
    [id],
  );
  // bigint is text in node-postgres.
  return rows.map((row) => ({ ...row, bytes: Number(row.bytes) }));
}

/** Replaces the artifacts of a request by those of its result. */
export async function saveArtifacts(
  tx: Queryable,
  id: string,
  artifacts: readonly ArtifactEntry[],
): Promise<void> {
  await tx.query('DELETE FROM request_artifacts WHERE request_id = $1', [id]);
  for (const artifact of artifacts) await addArtifact(tx, id, artifact);
}

/** Adds one artifact; one of the same name is replaced. */
export async function addArtifact(
  tx: Queryable,
  id: string,
  { name, media_type, bytes, sha256, section }: ArtifactEntry,
): Promise<void> {
  await tx.query(
    `INSERT INTO request_artifacts (request_id, position, name, media_type, bytes, sha256, section)
     SELECT $1, 1 + count(*), $2, $3, $4, $5, $6 FROM request_artifacts WHERE request_id = $1
     ON CONFLICT (request_id, name) DO UPDATE SET media_type = EXCLUDED.media_type,
       bytes = EXCLUDED.bytes, sha256 = EXCLUDED.sha256, section = EXCLUDED.section`,
    [id, name, media_type, bytes, sha256, section],
  );
}
