import type { Text } from '../text.ts';
import { all, program } from './define.ts';
import { launched } from './launched.ts';
import type { Call, Program } from './program.ts';

const runs = (reason = 'runs code of the project', options = '', words = '-'): Program =>
  program({
    options,
    words,
    does: [['code_execution', reason]],
    also: (call) => {
      launched(call);
      return undefined;
    },
  });

/** Compilers read and write files of the project; plug-ins and scripts of it may run. */
const compiler = runs(
  'runs a compiler, whose plug-ins and configuration are code',
  'o=w I=- L=- l=- D=- x=- std=- include=r wrapper=p B=- specs=r MF=w MT=- fplugin=p T=r',
);

const PUBLISHES =
  /^(?:[\w:.-]*:)?(?:deploy(?:-file)?|publish\w*|release(?::perform)?|upload\w*|site-deploy|closeAndReleaseRepository|bintrayUpload)$/;

/** What sends to a registry or a server isn't only work of the project: without being asked it could never get there. */
const builds =
  (reason: string): Program =>
  (call) => {
    call.report('code_execution', reason);
    launched(call);
    const dry = call.args.some((arg) => /^(--dry-run|-n|--dryRun|--snapshot|-m|--help)$/.test(arg));
    const local = /(publishToMavenLocal|publishLocal|publishM2)$/i;
    const verb = call.args.find((arg) => PUBLISHES.test(arg) && !local.test(arg));
    if (verb !== undefined && !dry) call.network(`${call.name} ${verb} sends data to another host`, []);
    return undefined;
  };

const make = program({
  options: 'C=r directory=r f=- file=- makefile=- I=- include-dir=- j?- jobs?- l?- load-average?- o=- W=- E=- eval=- n dry-run k s B',
  words: '-',
  also: (call, words) => {
    const file = words.value('f', 'file', 'makefile');
    if (file === '-' || file === '/dev/stdin') call.runsStream(call.stdin, 'runs the recipes of a makefile from its input');
    else if (file !== undefined) call.runsFile(file, 'runs the recipes of a makefile');
    call.report('code_execution', 'runs the recipes of a makefile');
    for (const word of words.operands) {
      const shell = /^(?:\.?SHELL|CC|CXX|LD|AR)(?::|\+)?=(.*)$/s.exec(word)?.[1];
      if (shell !== undefined && /[\s/;|&]/.test(shell)) call.runsText(shell, 'a variable of make names a program');
    }
    for (const arg of call.args)
      for (const match of arg.matchAll(/\$[({]shell\s+([^)}]*)[)}]/g)) call.runsText(match[1] ?? '', 'make hands text to a shell');
    const text = words.value('E', 'eval');
    if (text !== undefined) call.runsText(text.replace(/^[^:]*:[^;]*;/, ''), 'runs a rule given as an option');
    if (call.stdin.text !== undefined && (file === '-' || file === '/dev/stdin')) {
      for (const line of call.stdin.text.split('\n')) {
        const recipe = /^\t[@+-]*(.+)$/.exec(line)?.[1] ?? /^[^:#=]*:[^;]*;(.+)$/.exec(line)?.[1];
        if (recipe !== undefined) call.runsText(recipe, 'runs a recipe');
      }
    }
    return undefined;
  },
});

/** Wrapper scripts of build tools that fetch what they need unless they are offline are project code all the same: containment has no network. */
export const PROJECT: readonly (readonly [string, Program])[] = [
  ...all('make gmake bmake', make),
  ...all(
    'ninja samu just task mage rake thor invoke inv fab nox tox scons waf bazel bazelisk buck buck2 pants please ant buildr lein boot mill',
    runs('runs tasks of the project'),
  ),
  ...all('mvn mvnw gradle gradlew sbt maven', builds('builds the project, which runs its plug-ins')),
  ...all('lerna nx goreleaser vsce ovsx flit jreleaser', builds('runs a build tool with the configuration of the project')),
  ...all(
    'cmake ctest cpack meson autoreconf autoconf automake aclocal libtool configure qmake premake5 xmake',
    runs('runs the build of the project', 'B=w S=r build=w o=w'),
  ),
  ...all(
    'gcc g++ cc c++ clang clang++ cpp ld as gfortran nvcc emcc em++ swiftc ghc ocamlc ocamlopt rustc javac kotlinc scalac groovyc mcs csc tcc zig nim dmd ldc2 gdc fpc valac tinygo',
    compiler,
  ),
  ...all(
    'tsc vue-tsc tsgo esbuild swc babel rollup rolldown webpack webpack-cli vite parcel snowpack turbo rush gulp grunt tsup unbuild microbundle ncc pkg next nuxt astro remix gatsby ng vue-cli-service svelte-kit eleventy hugo jekyll mkdocs sphinx-build docusaurus storybook electron expo react-native metro tailwindcss postcss sass lessc stylus pug prisma drizzle-kit knex typeorm sequelize graphql-codegen openapi-generator protoc tree-sitter bindgen cbindgen wasm-pack',
    runs('runs a build tool with the configuration of the project'),
  ),
  ...all(
    'eslint prettier biome oxlint stylelint standard xo tslint jshint markdownlint markdownlint-cli2 cspell alex textlint commitlint lint-staged knip depcheck depcruise madge syncpack publint attw dprint rome',
    runs('runs a checker with the configuration of the project'),
  ),
  ...all(
    'jest vitest mocha ava tap tape jasmine karma cypress playwright c8 nyc testem uvu web-test-runner wtr',
    runs('runs the tests of the project'),
  ),
  ...all('pytest py.test unittest nose2 coverage behave robot hypothesis locust', runs('runs the tests of the project')),
  ...all(
    'mypy pyright ruff black isort flake8 pylint autopep8 yapf bandit pydocstyle vulture pyupgrade ty pyre pytype djlint sqlfluff codespell',
    runs('runs a checker with the configuration of the project'),
  ),
  ...all('django-admin flask uvicorn gunicorn hypercorn celery alembic streamlit jupyter nbconvert ipython cython f2py scrapy', runs()),
  ...all('rubocop rspec minitest cucumber standardrb reek brakeman rails bin/rails rackup puma sidekiq guard haml erb', runs()),
  ...all('phpunit pest phpstan psalm phpcs phpcbf php-cs-fixer artisan behat', runs()),
  ...all('gofmt goimports golangci-lint staticcheck gopls dlv air mockgen stringer wire sqlc ginkgo gotestsum gotest', runs()),
  ...all('rustfmt clippy-driver cargo-clippy miri trunk', runs()),
  ...all(
    'shellcheck shfmt hadolint yamllint actionlint jsonlint taplo vale tidy csslint editorconfig-checker checkmake ansible-lint tflint kubeval kubeconform conftest opa',
    program({ options: 'w l d i=- f=- c=- s=-', words: 'r' }),
  ),
  ...all(
    'ktlint detekt checkstyle pmd spotbugs google-java-format scalafmt scalafix ormolu hlint stylish-haskell elm-format elm swiftformat swiftlint swift xcodebuild dart flutter fvm iex erlc rebar3 dialyzer gleam crystal nimble clang-format clang-tidy cppcheck include-what-you-use astyle uncrustify valgrind gcov lcov gcovr kcov perf gprof callgrind_annotate heaptrack',
    runs(),
  ),
  ...all('protoc-gen-go flatc thrift capnp antlr4 bison flex yacc lex re2c swig gperf', runs('generates code', 'o=w')),
  ...all(
    'doxygen javadoc typedoc jsdoc rustdoc pdoc sphinx-apidoc swagger redoc-cli redocly asciidoctor asciidoc pdflatex xelatex lualatex latex latexmk tex bibtex biber context typst dot neato circo mermaid mmdc plantuml drawio inkscape ffmpeg ffprobe sox convert magick identify mogrify gs pdftotext pdfinfo qpdf tesseract exiftool optipng pngquant cwebp svgo gifsicle',
    runs('runs a converter, whose input may hold code'),
  ),
  ...all('concurrently npm-run-all run-s run-p nodemon forever onchange chokidar', (call: Call) => {
    call.report('code_execution', 'runs commands of the project');
    for (const arg of call.args) if (/\s/.test(arg)) call.shell(arg);
    return undefined;
  }),
  ...all('cross-env cross-env-shell', (call: Call) => {
    let at = 0;
    while (at < call.args.length && /^[A-Za-z_]\w*=/.test(call.args[at] ?? '')) {
      const word: Text = call.args[at] ?? '';
      call.environment(word.slice(0, word.indexOf('=')), word.slice(word.indexOf('=') + 1));
      at++;
    }
    return at < call.args.length ? call.inner(at) : undefined;
  }),
  ...all('dotenv', (call: Call) => {
    call.report('credential_access', 'loads the secrets of an .env file into a command');
    const dashes = call.args.indexOf('--');
    return dashes >= 0 ? call.inner(dashes + 1) : undefined;
  }),
  ...all('rimraf del-cli del', (call: Call) => {
    for (const arg of call.args) if (!arg.startsWith('-')) call.remove(arg, true);
    return undefined;
  }),
  ...all('mkdirp', program({ words: 'w' })),
  ...all('cpx cpy copyfiles ncp', program({ words: 'r>w' })),
  ...all('serve http-server live-server browser-sync', runs('serves files')),
  ...all('wait-on wait-for-it', (call: Call) => {
    const words = call.args.filter((arg) => !arg.startsWith('-'));
    call.network(
      'waits for a service',
      words.map((word) => word.replace(/^(https?|tcp)-get:/, '$1:').replace(/^tcp:(?!\/\/)/, '')),
    );
    return undefined;
  }),
];
