import { UnreadableInput } from '../../contract/study.ts';

export type Ffmpeg = typeof import('node-av/lib') & typeof import('node-av/constants');

let loaded: Promise<Ffmpeg> | null = null;

async function load(): Promise<Ffmpeg> {
  try {
    const [lib, constants] = await Promise.all([
      import('node-av/lib'),
      import('node-av/constants'),
    ]);
    // FFmpeg's messages quote tags of the file, which must not reach a log.
    lib.Log.setLevel(constants.AV_LOG_QUIET);
    return { ...lib, ...constants };
  } catch (error) {
    throw new UnreadableInput('the file cannot be read without FFmpeg: node-av is not installed', {
      cause: error,
    });
  }
}

/**
 * Returns FFmpeg, an optional package of about 200 MB. It is loaded once, on first use.
 *
 * @throws UnreadableInput if it is not installed (docs/licences.md).
 */
export function getFfmpeg(): Promise<Ffmpeg> {
  loaded ??= load();
  return loaded;
}
