// How each page of the docs begins.
import { type Html, html } from './html.ts';

/** The paths, relative so that they work under any path that a proxy adds. */
interface Places {
  /** Where the script and the style sheet are. */
  folder: string;
  /** Where the paths of the service begin. */
  root: string;
}

/** The page up to its body. */
export function head(title: string, { folder, root }: Places): Html {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
<link rel="icon" type="image/svg+xml" href="${root}/favicon.ico">
<link rel="service-desc" type="application/json" href="${root}/openapi.json">
<link rel="stylesheet" href="${folder}/page.css">
<script type="module" src="${folder}/page.js"></script>
</head>`;
}
