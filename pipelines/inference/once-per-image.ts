import { hash } from 'node:crypto';
import type { GrayImage } from '../contract/image.ts';

type Locate<Found> = (images: readonly GrayImage[]) => Promise<Found[]>;

const contentOf = ({ width, data }: GrayImage) => `${width} ${hash('sha256', data)}`;

/**
 * Wraps a function that finds something on each image, so that it runs only once for images with
 * the same pixels. Several readers need the same outlines, each of which takes several runs of a
 * network. Images are compared by their pixels, because each reader decodes the frame again.
 */
export function oncePerImage<Found>(locate: Locate<Found>): Locate<Found> {
  const known = new Map<string, Promise<Found>>();
  return async (images) => {
    const contents = images.map(contentOf);
    const unseen = new Map<string, GrayImage>();
    for (const [index, content] of contents.entries()) {
      const image = images[index];
      if (image && !known.has(content)) unseen.set(content, image);
    }
    if (unseen.size > 0) {
      const located = locate([...unseen.values()]);
      for (const [index, content] of [...unseen.keys()].entries()) {
        const own = located.then((all) => all[index] as Found);
        known.set(content, own);
      }
    }
    return Promise.all(contents.map((content) => known.get(content) as Promise<Found>));
  };
}
