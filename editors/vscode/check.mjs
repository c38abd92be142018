// Checks all types, then runs eslint with the same programs: nothing is parsed and typed twice, as it is by tsc and eslint alone.
import { ESLint } from "eslint";
import ts from "typescript";

// A file belongs to the first of them that has it: it is checked and linted with those options.
const PROJECTS = ["tsconfig.json", "tsconfig.page.json", "tsconfig.test.json"];
const FORMAT = { getCanonicalFileName: (name) => name, getCurrentDirectory: ts.sys.getCurrentDirectory, getNewLine: () => ts.sys.newLine };

function programOf(project) {
  const { config, error } = ts.readConfigFile(project, ts.sys.readFile);
  const { fileNames, options, errors } = ts.parseJsonConfigFileContent(config ?? {}, ts.sys, import.meta.dirname, { noEmit: true }, project);
  const configFileParsingDiagnostics = error === undefined ? errors : [error, ...errors];
  return ts.createProgram({ rootNames: fileNames, options, configFileParsingDiagnostics });
}

function problemsOf(program, seen) {
  const problems = [...program.getConfigFileParsingDiagnostics(), ...program.getOptionsDiagnostics(), ...program.getGlobalDiagnostics()];
  for (const file of program.getSourceFiles()) {
    if (!file.isDeclarationFile && !seen.has(file.fileName)) {
      seen.add(file.fileName);
      problems.push(...program.getSyntacticDiagnostics(file), ...program.getSemanticDiagnostics(file));
    }
  }
  return problems;
}

process.chdir(import.meta.dirname);
const programs = PROJECTS.map(programOf);
const seen = new Set();
const problems = programs.flatMap((program) => problemsOf(program, seen));
console.log(ts.formatDiagnostics(problems, FORMAT));

const languageOptions = { parserOptions: { project: null, programs } };
const eslint = new ESLint({ overrideConfig: { files: ["**/*.ts"], languageOptions } });
const results = await eslint.lintFiles(["."]);
console.log((await eslint.loadFormatter("stylish")).format(results));
process.exitCode = problems.length + results.reduce((sum, file) => sum + file.errorCount + file.warningCount, 0) > 0 ? 1 : 0;
