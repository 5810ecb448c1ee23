//! Rewrites a source file so that one build contains all of its mutants, and each can be switched on at run time.
//!
//! ```sh
//! switches FILE <MUTANTS >REWRITTEN 2>PLACED
//! ```
//!
//! Each line of standard input is a mutant: its number, genre, line and column (from 1) in the list of `cargo mutants`,
//! and the replacement, separated by tabs. The rewritten file calls `crate::mutant(NUMBER)` at each of these places.
//! The numbers of the mutants with a switch go to standard error. A `const` function with a switch becomes a
//! usual one, and a constant array is evaluated at its first use. Other constants cannot have switches.
//!
//! A rewritten alternative ends with the comment `/*NUMBER*/`, so that a compile error in it can be traced.

use std::collections::BTreeMap;
use std::io::Read;
use std::ops::Range;

use proc_macro2::LineColumn;
use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::{BinOp, Expr, UnOp};

struct Mutant {
    number: usize,
    genre: String,
    replacement: String,
}

/// Mutants by line and column, both as in the compiler's spans.
type Mutants = BTreeMap<(usize, usize), Vec<Mutant>>;

/// Order of edits at one offset: ends of expressions, the operator or a whole insertion, starts of expressions.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Order {
    Close,
    Middle,
    Open,
}

struct Edit {
    at: usize,
    order: Order,
    removed: usize,
    text: String,
}

struct Rewriter {
    mutants: Mutants,
    edits: Vec<Edit>,
    placed: Vec<usize>,
}

impl Rewriter {
    /// Takes the mutants of a genre at a place.
    fn take(&mut self, at: LineColumn, genre: &str) -> Vec<Mutant> {
        let Some(here) = self.mutants.get_mut(&(at.line, at.column + 1)) else { return Vec::new() };
        let (taken, kept): (Vec<_>, Vec<_>) =
            std::mem::take(here).into_iter().partition(|mutant| mutant.genre == genre);
        *here = kept;
        self.placed.extend(taken.iter().map(|mutant| mutant.number));
        taken
    }

    fn edit(&mut self, at: usize, order: Order, removed: usize, text: impl Into<String>) {
        self.edits.push(Edit { at, order, removed, text: text.into() });
    }

    /// Surrounds `left OPERATOR right` by three texts.
    fn binary(&mut self, node: &syn::ExprBinary, [open, middle, close]: [String; 3]) {
        let [whole, operator] = [node.span().byte_range(), node.op.span().byte_range()];
        self.edit(whole.start, Order::Open, 0, open);
        visit::visit_expr(self, &node.left);
        self.edit(operator.start, Order::Middle, operator.len(), middle);
        visit::visit_expr(self, &node.right);
        self.edit(whole.end, Order::Close, 0, close);
    }

    /// Places the switches of a function, which then cannot be `const`.
    fn function(&mut self, signature: &syn::Signature, block: &syn::Block) {
        let placed = self.placed.len();
        if let Some(first) = block.stmts.first() {
            let (start, offset) = (first.span().start(), first.span().byte_range().start);
            for mutant in self.take(start, "FnValue") {
                let Mutant { number, replacement, .. } = mutant;
                let text = format!("if crate::mutant({number}) {{ return {replacement} /*{number}*/; }} ");
                self.edit(offset, Order::Middle, 0, text);
            }
        }
        self.visit_block(block);
        if let (Some(constant), true) = (&signature.constness, self.placed.len() > placed) {
            let range = constant.span().byte_range();
            self.edit(range.start, Order::Middle, range.len(), "");
        }
    }

    /// Places the switches of a constant array, which is then evaluated at its first use.
    fn constant(&mut self, token: &syn::Token![const], kind: &syn::Type, value: &Expr) {
        if !matches!(kind, syn::Type::Array(_)) {
            return;
        }
        let placed = self.placed.len();
        let [token, kind, range] = [token.span(), kind.span(), value.span()].map(|span| span.byte_range());
        self.visit_expr(value);
        if self.placed.len() > placed {
            self.edit(token.start, Order::Middle, token.len(), "static");
            self.edit(kind.start, Order::Open, 0, "std::sync::LazyLock<");
            self.edit(kind.end, Order::Close, 0, ">");
            self.edits.insert(
                0,
                Edit { at: range.start, order: Order::Open, removed: 0, text: "std::sync::LazyLock::new(|| ".into() },
            );
            self.edit(range.end, Order::Close, 0, ")");
        }
    }
}

/// Returns the choice between mutants and the original, each a text with `{}` for the operator.
fn choice(mutants: &[Mutant], form: impl Fn(&str) -> String, original: &str) -> String {
    let alternatives = mutants.iter().map(|Mutant { number, replacement, .. }| {
        format!("if crate::mutant({number}) {{ {} /*{number}*/ }} else ", form(replacement))
    });
    format!("{}{{ {} }}", alternatives.collect::<String>(), form(original))
}

/// Returns whether an operand is a chain with `let`, which has no value.
fn has_let(expression: &Expr) -> bool {
    match expression {
        Expr::Let(_) => true,
        Expr::Binary(binary) => has_let(&binary.left) || has_let(&binary.right),
        _ => false,
    }
}

impl<'ast> Visit<'ast> for Rewriter {
    fn visit_item_fn(&mut self, node: &'ast syn::ItemFn) {
        self.function(&node.sig, &node.block);
    }

    fn visit_impl_item_fn(&mut self, node: &'ast syn::ImplItemFn) {
        self.function(&node.sig, &node.block);
    }

    fn visit_trait_item_fn(&mut self, node: &'ast syn::TraitItemFn) {
        if let Some(block) = &node.default {
            self.function(&node.sig, block);
        }
    }

    fn visit_item_const(&mut self, node: &'ast syn::ItemConst) {
        self.constant(&node.const_token, &node.ty, &node.expr);
    }

    fn visit_item_static(&mut self, _: &'ast syn::ItemStatic) {}
    fn visit_impl_item_const(&mut self, _: &'ast syn::ImplItemConst) {}
    fn visit_trait_item_const(&mut self, _: &'ast syn::TraitItemConst) {}
    fn visit_expr_const(&mut self, _: &'ast syn::ExprConst) {}
    fn visit_type(&mut self, _: &'ast syn::Type) {}
    fn visit_generic_argument(&mut self, _: &'ast syn::GenericArgument) {}
    fn visit_pat(&mut self, _: &'ast syn::Pat) {}

    fn visit_expr_repeat(&mut self, node: &'ast syn::ExprRepeat) {
        self.visit_expr(&node.expr);
    }

    fn visit_expr_binary(&mut self, node: &'ast syn::ExprBinary) {
        let lazy = matches!(node.op, BinOp::And(_) | BinOp::Or(_));
        if lazy && (has_let(&node.left) || has_let(&node.right)) {
            return visit::visit_expr_binary(self, node);
        }
        let start = node.op.span().start();
        let mutants = self.take(start, "BinaryOperator");
        if mutants.is_empty() {
            return visit::visit_expr_binary(self, node);
        }
        let original = node.op.span().source_text().unwrap_or_default();
        use BinOp::{
            AddAssign, BitAndAssign, BitOrAssign, BitXorAssign, DivAssign, Eq, Ge, Gt, Le, Lt, MulAssign, Ne,
            RemAssign, ShlAssign, ShrAssign, SubAssign,
        };
        let texts = match node.op {
            // By De Morgan's laws, negating both operands and the result turns one operator into the other.
            BinOp::And(_) | BinOp::Or(_) => {
                let on = format!("crate::mutant({})", mutants[0].number);
                ["((((".into(), format!(") ^ {on}) {original} (("), format!(") ^ {on})) ^ {on})")]
            }
            Eq(_) | Ne(_) | Lt(_) | Le(_) | Gt(_) | Ge(_) => [
                "(match (&(".into(),
                "), &(".into(),
                format!(")) {{ (x, y) => {} }})", choice(&mutants, |op| format!("*x {op} *y"), &original)),
            ],
            AddAssign(_) | SubAssign(_) | MulAssign(_) | DivAssign(_) | RemAssign(_) | BitAndAssign(_)
            | BitOrAssign(_) | BitXorAssign(_) | ShlAssign(_) | ShrAssign(_) => [
                "(match (&mut (".into(),
                "), (".into(),
                format!(")) {{ (x, y) => {} }})", choice(&mutants, |op| format!("*x {op} y"), &original)),
            ],
            _ => [
                "(match ((".into(),
                "), (".into(),
                format!(")) {{ (x, y) => {} }})", choice(&mutants, |op| format!("x {op} y"), &original)),
            ],
        };
        self.binary(node, texts);
    }

    fn visit_expr_unary(&mut self, node: &'ast syn::ExprUnary) {
        let mutants = match node.op {
            UnOp::Not(_) | UnOp::Neg(_) => self.take(node.op.span().start(), "UnaryOperator"),
            _ => Vec::new(),
        };
        if mutants.is_empty() {
            return visit::visit_expr_unary(self, node);
        }
        let [whole, operator] = [node.span().byte_range(), node.op.span().byte_range()];
        let original = node.op.span().source_text().unwrap_or_default();
        self.edit(whole.start, Order::Open, operator.len(), "(match (");
        self.visit_expr(&node.expr);
        let text = format!(") {{ x => {} }})", choice(&mutants, |op| format!("{op}x"), &original));
        self.edit(whole.end, Order::Close, 0, text);
    }

    fn visit_arm(&mut self, node: &'ast syn::Arm) {
        let deleted: String = self
            .take(node.span().start(), "MatchArm")
            .iter()
            .map(|mutant| format!(" && !crate::mutant({})", mutant.number))
            .collect();
        match &node.guard {
            Some((_, guard)) => {
                let range: Range<usize> = guard.span().byte_range();
                let (mut open, mut close) = ("(true".to_string(), ")".to_string());
                for Mutant { number, replacement, .. } in self.take(guard.span().start(), "MatchArmGuard") {
                    match replacement.as_str() {
                        "true" => close += &format!(" || crate::mutant({number})"),
                        _ => open += &format!(" && !crate::mutant({number})"),
                    }
                }
                open += " && ((";
                close += "))";
                self.edit(range.start, Order::Open, 0, open);
                self.visit_expr(guard);
                self.edit(range.end, Order::Close, 0, close + &deleted);
            }
            None if !deleted.is_empty() => {
                let end = node.pat.span().byte_range().end;
                self.edit(end, Order::Close, 0, format!(" if true{deleted}"));
            }
            None => {}
        }
        self.visit_expr(&node.body);
    }
}

fn main() {
    let path = std::env::args().nth(1).expect("a file");
    let source = std::fs::read_to_string(&path).expect("a readable file");
    let mut list = String::new();
    std::io::stdin().read_to_string(&mut list).expect("a list of mutants");
    let mut mutants = Mutants::new();
    for line in list.lines() {
        let fields: Vec<&str> = line.split('\t').collect();
        let [number, genre, line, column, replacement] = fields[..] else { panic!("five fields: {line}") };
        let [number, line, column] = [number, line, column].map(|field| field.parse().expect("a number"));
        mutants.entry((line, column)).or_default().push(Mutant {
            number,
            genre: genre.into(),
            replacement: replacement.into(),
        });
    }
    let file = syn::parse_file(&source).expect("Rust source");
    let mut rewriter = Rewriter { mutants, edits: Vec::new(), placed: Vec::new() };
    rewriter.visit_file(&file);

    let mut edits = rewriter.edits;
    edits.sort_by_key(|edit| (edit.at, edit.order));
    let (mut rewritten, mut from) = (String::new(), 0);
    for edit in edits {
        rewritten += &source[from..edit.at.max(from)];
        rewritten += &edit.text;
        from = from.max(edit.at + edit.removed);
    }
    rewritten += &source[from..];
    print!("{rewritten}");
    for number in rewriter.placed {
        eprintln!("{number}");
    }
}
